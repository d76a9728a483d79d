import Curl
import Domain
import Foundation

extension Doctor {
    /// One of Apple's servers, as one app sees it.
    struct Site {
        let app: App
        let environment: AppStoreEnvironment
        let baseURL: String

        func finding(
            _ check: String, _ verdict: DoctorFinding.Verdict, _ detail: String, advice: String? = nil
        ) -> DoctorFinding {
            DoctorFinding(
                app: app.slug, environment: environment, check: check, verdict, detail, advice: advice)
        }

        /// The server could not be asked.
        func unreachable(_ error: CurlError) -> DoctorFinding {
            let advice =
                switch error.kind {
                case .nameResolution: "check the name server of this machine and the host name in `apple.upstream`"
                case .connectFailed: "let this machine out to port 443, or configure `apple.proxy`"
                case .tls:
                    "install the package ca-certificates, or name the proxy's authority in `apple.certificateAuthorityFile`"
                case .timeout: "look for a firewall that drops packets; raise `apple.connectTimeout` on a slow line"
                default: "try again; if it stays, look at the network and the proxy"
                }
            return finding("base URL", .failure, "\(baseURL): \(error)", advice: advice)
        }

        /// The server has answered, whatever it said: what that tells of the way to it and of the clock.
        func reached(_ response: CurlResponse, now: Date) -> [DoctorFinding] {
            var findings = [finding("base URL", .ok, "\(baseURL) answers")]
            if response.status >= 500 {
                findings.append(
                    finding(
                        "service", .warning, "Apple answers with status \(response.status)",
                        advice: "look at Apple's system status page; nothing is wrong here"))
            }
            guard let date = response.headers.date else {
                findings.append(finding("clock", .warning, "the answer bears no date to compare with"))
                return findings
            }
            let skew = now.timeIntervalSince(date)
            let seconds = Int(skew.rounded())
            findings.append(
                abs(skew) <= Doctor.tolerance
                    ? finding("clock", .ok, "\(abs(seconds)) s from Apple's")
                    : finding(
                        "clock", .failure, "\(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") Apple's",
                        advice: "set the clock and keep it set (timedatectl set-ntp true): Apple refuses tokens by it"))
            return findings
        }

        /// The server refuses the token.
        func refused(_ key: String, isAcceptedElsewhere: Bool) -> DoctorFinding {
            guard isAcceptedElsewhere else {
                return finding(
                    "token of \(key)", .failure, "refused (401)",
                    advice:
                        "compare key id, issuer id and bundle id `\(app.bundleID)` with App Store Connect, and see there whether the key is revoked"
                )
            }
            if environment == .production {
                return finding(
                    "token of \(key)", .warning, "refused (401), while Sandbox accepts it",
                    advice: "usual for an app that was never released; then leave only Sandbox in its `environments`")
            }
            return finding(
                "token of \(key)", .failure, "refused (401), while Production accepts it",
                advice: "try again; if it stays, ask Apple: the same key serves both")
        }
    }
}
