"""What to do about a connection to Prometheus that failed."""

from typing import Final

_CLIENT: Final = "give a client certificate that the server accepts, with --prometheus-cert FILE"

REMEDIES: Final = (
    ("certificate has expired", "renew the certificate of the server"),
    ("certificate is not yet valid", "compare the clocks of both machines"),
    ("Hostname mismatch", "write a host name of the certificate into the URL"),
    ("IP address mismatch", "write a host name of the certificate into the URL"),
    ("CERTIFICATE_VERIFY_FAILED", "give its CA with --prometheus-ca FILE"),
    ("certificate required", _CLIENT),
    # Servers that were built with older versions of Go say this to clients without a certificate too.
    ("alert bad certificate", _CLIENT),
    ("alert unknown ca", _CLIENT),
    ("alert certificate expired", "renew the certificate of --prometheus-cert"),
    ("WRONG_VERSION_NUMBER", "this port does not speak TLS: write http:// into the URL"),
    ("record layer failure", "this port does not speak TLS: write http:// into the URL"),
)
"""By parts of what OpenSSL and Python say; the first that is in a text decides."""
