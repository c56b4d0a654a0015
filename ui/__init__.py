"""What a person sees, and the client of the server. Imports ``launch``, never the other way round."""
