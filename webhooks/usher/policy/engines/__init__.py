"""The engines that evaluate the policies: OPA as WebAssembly in this process, or an OPA server."""
