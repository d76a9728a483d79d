/// What each metric of ours means, for the `# HELP` lines.
enum MetricsHelp {
    static let texts: [String: String] = [
        "purser_http_requests": "Requests answered, by listener, route, method and status.",
        "purser_http_request_duration_seconds": "Time from a request's head to its answer's head.",
        "purser_http_caller_request_duration_seconds":
            "Time from a request's head to its answer's head, by caller; those beyond 1,000 callers share one.",
        "purser_http_requests_in_progress": "Requests that are worked on, by listener.",
        "purser_http_connections": "Open connections, by listener.",
        "purser_http_requests_turned_away":
            "Requests answered with 503 because too many others were worked on, by listener.",
        "purser_upstream_calls":
            "Attempts of calls to Apple, by endpoint, app, environment and status; status none: no answer.",
        "purser_upstream_call_duration_seconds": "Time of one attempt of a call to Apple, by endpoint and environment.",
        "purser_upstream_retries": "Attempts that repeated a failed one.",
        "purser_upstream_circuit_open": "1 while an environment of Apple's fails and gets no calls, else 0.",
        "purser_upstream_unauthorized_findings": "What was found out about tokens that Apple refused.",
        "purser_budget_refusals":
            "Calls to Apple that were not made, by cause: exhausted, unfair, quota, or apple, which asked to wait.",
        "purser_budget_remaining_calls":
            "What is left of a limit of calls to Apple that was used in the last hour, by app, environment and endpoint.",
        "purser_answers_dropped":
            "Answers of Apple's about purchases that are not kept for `source=stored`: too many came at once, or the store was away.",
        "purser_verifications": "Signed data checked, by result.",
        "purser_notifications":
            "Notifications that came in or were verified anew, by app, type and what became of them.",
        "purser_quarantined_notifications":
            "Notifications that do not verify as the apps' as they are configured, kept to be verified anew.",
        "purser_deliveries": "Deliveries that are not over, by app and state.",
        "purser_delivery_oldest_age_seconds":
            "How long the oldest delivery that is not over has been here; 0 without one.",
        "purser_cases_open": "Refund cases that Apple waits for an answer to, by app and environment.",
        "purser_case_nearest_deadline_seconds":
            "Time until the next deadline of an open case, below zero once it has passed; +Inf without one.",
        "purser_refund_decisions":
            "Decisions of Apple's about refunds, by app, environment, outcome, and the preference of the answer that Apple had accepted, or none.",
        "purser_refund_requests_week":
            "Refund requests that Apple signed within the last seven days, by app, environment, what became of the answer (open, inTime, late, silent) and why it is silent, or none.",
        "purser_refund_outcomes_week":
            "Refund requests that Apple signed within the last seven days, by app, environment and what Apple decided.",
        "purser_clock_in_doubt":
            "1 while nobody can tell whether the machine's clock is right, so that nothing is sent, else 0.",
        "purser_clock_machine_ahead_seconds":
            "How far the machine's clock is ahead of the time that Purser goes by; below zero behind it.",
        "purser_sending_held": "1 while nothing is sent because the store came from a backup, else 0.",
        "purser_audit_records": "Acts whose record was written since the start, at once or after it was owed.",
        "purser_audit_write_failures": "Times that records of the audit could not be written.",
        "purser_audit_records_owed":
            "Records of acts that have happened and that the audit could not be given yet; 0 when all is well.",
        "purser_audit_reserve_free_bytes":
            "Room that is left for records while the audit cannot be written; 0: none for another one.",
        "purser_callers": "Callers, by where they are declared: configuration or store.",
        "purser_callers_expiring": "Callers whose last token ends within `access.expiryWarning`.",
        "purser_callers_unused": "Callers that have not been here for longer than `access.unusedWarning`.",
        "purser_callbacks": "Callbacks, by app and state.",
        "purser_callbacks_failed":
            "Callbacks that are paused because their receiver has failed for three days or is gone, by app.",
        "purser_callback_events_waiting":
            "Events that callbacks wait to send again, or behind one that they do, by app.",
        "purser_callback_attempts":
            "Attempts to post to callbacks, by app and result: class of the status, refused (its address), or none (no answer).",
        "purser_key_directory_problems": "Files of key directories that are not used.",
        "purser_keys": "Signing keys by state.",
        "purser_keys_closed": "Keys that cannot sign though they should: their sealed bytes do not open.",
        "purser_keys_warned_of": "Keys that are old or unused.",
        "purser_key_takeovers": "Standby keys that sign in the place of keys that Apple has refused.",
        "purser_signatures_made": "Requests of apps to StoreKit signed, by kind.",
        "purser_signature_failures": "Requests of apps to StoreKit that could not be signed, by kind.",
        "purser_store_operation_duration_seconds":
            "Time of an operation of the store from its call to its end, waiting included: lookUp, read or write.",
        "purser_store_writes_waiting": "Writes that wait for their turn.",
        "purser_heartbeat_age_seconds":
            "How long ago a part that the watchdog asks has last run; it is asked twice in each interval of the watchdog.",
        "purser_config_last_reload_successful":
            "1 while the configuration of the last reload, or of the start, is in force; 0 since one was refused.",
        "purser_config_last_reload_success_timestamp_seconds":
            "When the configuration that is in force was loaded, in seconds since 1970.",
        "purser_build_info": "1, with the version of Purser and of the libraries that it has found.",
        "purser_tokens_reused": "Times that a token for Apple was used again.",
        "purser_tokens_minted": "Tokens for Apple signed.",
        "purser_token_mint_failures": "Tokens for Apple that could not be signed.",
    ]
}
