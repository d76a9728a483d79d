/// What each metric of ours means, for the `# HELP` lines.
enum MetricsHelp {
    static let texts: [String: String] = [
        "purser_http_requests": "Requests answered, by listener, route, method and status.",
        "purser_http_request_duration_seconds": "Time from a request's head to its answer's head.",
        "purser_upstream_calls":
            "Attempts of calls to Apple, by endpoint, app, environment and status; status none: no answer.",
        "purser_upstream_call_duration_seconds": "Time of one attempt of a call to Apple.",
        "purser_upstream_retries": "Attempts that repeated a failed one.",
        "purser_upstream_circuit_open": "1 while an environment of Apple's fails and gets no calls, else 0.",
        "purser_upstream_unauthorized_findings": "What was found out about tokens that Apple refused.",
        "purser_budget_refusals":
            "Calls to Apple that were not made, by cause: exhausted, unfair, quota, or apple, which asked to wait.",
        "purser_verifications": "Signed data checked, by result.",
        "purser_tokens_minted": "Tokens for Apple signed.",
        "purser_token_mint_failures": "Tokens for Apple that could not be signed.",
    ]
}
