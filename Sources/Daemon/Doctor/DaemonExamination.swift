import Curl

/// Asks the running daemon what it finds wrong with itself; part of `purser doctor`.
struct DaemonExamination {
    /// The answer of `/healthz`.
    private struct Health: Decodable {
        struct Part: Decodable {
            let name: String
            let healthy: Bool
            let detail: String
        }

        let parts: [Part]
    }

    let daemon: RunningDaemon

    /// What is wrong, or that nothing is; nothing at all when no daemon runs, which is no fault.
    func findings() async -> [DoctorFinding] {
        do {
            let health = try await daemon.client().send(.get, "/healthz").decoded(Health.self)
            let faults = health.parts.filter { !$0.healthy }.map { part in
                finding(part.name, .failure, part.detail, advice: Self.advice(for: part.name))
            }
            return faults.isEmpty ? [finding("health", .ok, "all \(health.parts.count) parts are well")] : faults
        } catch AdminClientError.notRunning, AdminClientError.switchedOff {
            return []
        } catch {
            return [finding("health", .warning, "not examined: \(error)")]
        }
    }

    private func finding(
        _ check: String, _ verdict: DoctorFinding.Verdict, _ detail: String, advice: String? = nil
    ) -> DoctorFinding {
        DoctorFinding(app: "daemon", check: check, verdict, detail, advice: advice)
    }

    private static func advice(for part: String) -> String {
        switch part {
        case "sending":
            "record again who has withdrawn consent since the backup, then run `purser deliveries release`"
        case "quarantine":
            "compare `bundleId`, `appAppleId` and `environments` with App Store Connect, and the URL there with the app's name"
        case "cases": "answer or decline them: `GET /v1/apps/{app}/cases?state=open` lists them"
        case "store": "see whether the disk is full or broken: `df` on the folder of `store`"
        default: "see \"At three in the morning\" in docs/operations.md"
        }
    }
}
