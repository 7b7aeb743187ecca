// Owns the precompiled header of the tests (cmake/Precompiled.cmake).
