"""serving.kserve.io: inference services, LLM inference services and their runtimes."""

from usher.kinds.kserve import inference_services, llm_services

KINDS = (*inference_services.KINDS, *llm_services.KINDS)
