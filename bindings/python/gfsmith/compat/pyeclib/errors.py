"""The errors of ec_iface, which exports them."""

from __future__ import annotations


class ECDriverError(Exception):
    """The base of all errors of drivers."""

    def __init__(self, error: object) -> None:
        super().__init__(error)
        self.error_str = str(error)

    def __str__(self) -> str:
        return self.error_str


class ECBackendNotSupported(ECDriverError):
    """There is no backend with this name."""


class ECMethodNotImplemented(ECDriverError):
    """The backend lacks the method."""


class ECBackendInitializationError(ECDriverError):
    """The backend cannot be initialised."""


class ECBackendInstanceNotAvailable(ECDriverError):
    """The backend is not installed."""


class ECBackendInstanceInUse(ECDriverError):
    """The backend is in use."""


class ECInvalidParameter(ECDriverError):
    """An argument is invalid."""


class ECInvalidFragmentMetadata(ECDriverError):
    """The header of a fragment is damaged, or does not fit the others."""


class ECBadFragmentChecksum(ECDriverError):
    """The payload of a fragment does not match its checksum."""


class ECInsufficientFragments(ECDriverError):
    """Too few fragments."""


class ECOutOfMemory(ECDriverError):
    """PyECLib's error for ranges that are not a list."""
