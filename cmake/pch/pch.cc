// Owns the precompiled header of the libraries (cmake/Precompiled.cmake).
