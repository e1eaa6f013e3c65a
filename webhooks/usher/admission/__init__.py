"""AdmissionReview in, AdmissionReview out (admission.k8s.io/v1). No HTTP, no sockets."""
