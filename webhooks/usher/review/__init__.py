"""Answers an AdmissionReview with an AdmissionReview, without HTTP."""
