import Domain
import HTTPTypes
import JSON

/// The routes for the orchestrator and the operator.
enum HealthRoutes {
    /// The process answers, so it lives.
    static func live() -> Answer {
        Answer.object { $0.member("status", "live") }
    }

    /// Whether the daemon can serve: neither Apple nor a missing key makes it unready.
    static func ready(_ health: any HealthReporter) async -> Answer {
        let isReady = await health.isReady()
        return Answer.object(isReady ? .ok : .serviceUnavailable) {
            $0.member("status", isReady ? "ready" : "notReady")
        }
    }

    /// Each part, for people.
    static func report(_ health: any HealthReporter) async -> Answer {
        let report = await health.report()
        return Answer.object(report.isReady ? .ok : .serviceUnavailable) { writer in
            writer.member("status", report.isReady ? "ready" : "notReady")
            writer.member("version", report.version)
            writer.member("upstream", report.upstream)
            writer.memberArray("parts") { writer in
                for part in report.parts {
                    writer.object { writer in
                        writer.member("name", part.name)
                        writer.member("healthy", part.isHealthy)
                        writer.member("detail", part.detail)
                    }
                }
            }
        }
    }

    /// All metrics, in the format that whoever scrapes would rather have.
    static func metrics(_ headers: RequestHeaders, _ render: (MetricsFormat) -> String) -> Answer {
        let prefersOpenMetrics = AcceptHeader(headers).prefers(
            MetricsFormat.openMetrics.mediaType, over: MetricsFormat.prometheus.mediaType)
        let format: MetricsFormat = prefersOpenMetrics ? .openMetrics : .prometheus
        return Answer(
            status: .ok, contentType: format.contentType, headers: [.vary: HTTPField.Name.accept.rawName],
            body: .bytes(Array(render(format).utf8)))
    }
}

/// The formats that metrics can be had in.
package enum MetricsFormat: Sendable {
    /// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
    case prometheus
    /// Source: https://prometheus.io/docs/specs/om/open_metrics_spec/
    case openMetrics

    var mediaType: String {
        switch self {
        case .prometheus: "text/plain"
        case .openMetrics: "application/openmetrics-text"
        }
    }

    var contentType: String {
        switch self {
        case .prometheus: "\(mediaType); version=0.0.4; charset=utf-8"
        case .openMetrics: "\(mediaType); version=1.0.0; charset=utf-8"
        }
    }
}
