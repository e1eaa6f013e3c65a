"""serving.kserve.io: inference services, LLM inference services and their runtimes."""

from usher.kinds.kserve import inference_services, llm_services, runtimes

CODE = {**inference_services.CODE, **llm_services.CODE, **runtimes.CODE}
