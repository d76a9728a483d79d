import AppStoreAPI
import Curl
import Domain

extension Doctor {
    /// Lets Apple send a test notification and waits for its fate.
    func testNotification(
        _ app: App, _ environment: AppStoreEnvironment, _ probe: AppleProbe
    ) async -> DoctorFinding {
        let site = Site(app: app, environment: environment, baseURL: "")
        let name = Self.notificationURL
        guard case .answer(let response) = await probe.call(.requestTestNotification(), for: app, in: environment)
        else { return site.finding(name, .warning, "not tried: Apple could not be reached just now") }
        let answer = try? SendTestNotificationResponse(parsing: response.body)
        guard (200..<300).contains(response.status), let token = answer?.testNotificationToken else {
            return unsent(site, name, status: response.status, try? ErrorPayload(parsing: response.body))
        }
        for _ in 0..<Self.statusChecks.count {
            guard (try? await clock.sleep(for: Self.statusChecks.pause)) != nil else { break }
            let outcome = await probe.call(
                .getTestNotificationStatus(testNotificationToken: token), for: app, in: environment)
            guard case .answer(let response) = outcome, (200..<300).contains(response.status),
                let attempts = (try? CheckTestNotificationResponse(parsing: response.body))?.sendAttempts,
                let last = attempts.last?.sendAttemptResult?.rawValue
            else { continue }
            return last == "SUCCESS"
                ? site.finding(name, .ok, "Apple's test notification was received")
                : site.finding(
                    name, .failure, "Apple could not deliver its test notification: \(last)",
                    advice: Self.advice(for: last))
        }
        return site.finding(
            name, .warning, "Apple has not yet said what became of its test notification",
            advice: "run this again in a few minutes")
    }

    private func unsent(_ site: Site, _ name: String, status: Int, _ error: ErrorPayload?) -> DoctorFinding {
        switch error?.errorCode {
        case 4_040_007:
            site.finding(
                name, .failure, "no version 2 URL is configured",
                advice:
                    "enter one in App Store Connect (App Information, App Store Server Notifications, version 2): without it refund requests never arrive"
            )
        case 4_290_000:
            site.finding(
                name, .warning, "not tried: Apple's limit for test notifications is reached",
                advice: "run this again in an hour, or with --skip-test-notifications")
        default:
            site.finding(name, .warning, "not tried: Apple answered with status \(status)", advice: "run this again")
        }
    }

    /// What to do about Apple's `sendAttemptResult`.
    private static func advice(for result: String) -> String {
        switch result {
        case "TIMED_OUT", "NO_RESPONSE": "let Apple's network (17.0.0.0/8) reach the URL, and answer within seconds"
        case "TLS_ISSUE": "serve the URL with a certificate of a public authority and TLS 1.2 or later"
        case "SOCKET_ISSUE", "PREMATURE_CLOSE":
            "see whether the server behind the URL accepts connections and keeps them"
        case "CIRCULAR_REDIRECT": "let the URL answer itself instead of redirecting"
        case "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "INVALID_RESPONSE", "UNSUPPORTED_CHARSET":
            "let the URL answer 200 without a body"
        default: "see the log of the server behind the URL"
        }
    }
}
