import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

/// What became of refund requests.
struct RefundReportRoutes: Sendable {
    /// The forms of a report.
    private enum Format: String, CaseIterable {
        case json
        case csv
    }

    let service: RefundReportService

    /// `GET …/refundReport`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let format = fields.choice("format", Format.self, in: .query, isRequired: false)
        let environment = fields.environment(for: app)
        var query = RefundReportQuery(environment: environment ?? RefundReportService.defaultEnvironment(of: app))
        query.groupBy = fields.choices("groupBy", RefundReportQuery.Dimension.self)
        query.from = fields.time("from", in: .query)
        query.to = fields.time("to", in: .query)
        if let from = query.from, let to = query.to, to <= from {
            fields.note("to", "range", "`to` must be later than `from`: it is the first time that does not count.")
        }
        try fields.finish()
        let report = try await service.report(app: app, query)
        let prefersCSV = AcceptHeader(input.headers).prefers("text/csv", over: "application/json")
        return switch format ?? (prefersCSV ? .csv : .json) {
        case .json:
            Answer(
                status: .ok, contentType: Answer.json, headers: [.vary: HTTPField.Name.accept.rawName],
                body: .stream { [query] output in try await RefundReportBody.writeJSON(report, query, to: &output) })
        case .csv:
            Answer(
                status: .ok, contentType: CSVWriter.contentType, headers: [.vary: HTTPField.Name.accept.rawName],
                body: .stream { [query] output in try await RefundReportBody.writeCSV(report, query, to: &output) })
        }
    }
}

/// The forms of a report in our API.
enum RefundReportBody {
    /// How much is written at a time, in bytes: the whole text of a report is never in memory.
    private static let pieceBytes = 1 << 16

    // MARK: JSON

    /// Writes one object: what the report is of, all requests together, and each group.
    @concurrent static func writeJSON(
        _ report: RefundReport, _ query: RefundReportQuery, to output: inout any ResponseBodyWriter
    ) async throws {
        var writer = JSONWriter(capacity: pieceBytes + 4096)
        writer.beginObject()
        writer.member("environment", query.environment.rawValue)
        writer.memberOrNull("from", query.from.map(Timestamp.text))
        writer.memberOrNull("to", query.to.map(Timestamp.text))
        writer.memberArray("groupBy") { writer in
            for dimension in query.dimensions { writer.value(dimension.rawValue) }
        }
        writer.memberObject("total") { write(Self.byCurrency(report.rows), to: &$0) }
        writer.name("groups")
        writer.beginArray()
        for group in report.groups {
            writer.object { writer in
                for (dimension, value) in zip(query.dimensions, group.first?.key.values ?? []) {
                    writer.memberOrNull(dimension.rawValue, value)
                }
                write(group.map { ($0.key.currency, $0.figures) }, to: &writer)
            }
            guard writer.bytes.count >= pieceBytes else { continue }
            try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        }
        writer.endArray()
        writer.endObject()
        try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        try await output.finish(nil)
    }

    /// The figures of all rows together, for each currency apart.
    private static func byCurrency(_ rows: [RefundReport.Row]) -> [(currency: String?, figures: RefundFigures)] {
        rows.reduce(into: [String?: RefundFigures]()) { sums, row in
            sums[row.key.currency] = (sums[row.key.currency] ?? RefundFigures()) + row.figures
        }.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { ($0.key, $0.value) }
    }

    /// Writes figures, which are given for each currency apart.
    private static func write(
        _ parts: [(currency: String?, figures: RefundFigures)], to writer: inout JSONWriter
    ) {
        let figures = parts.map(\.figures).reduce(RefundFigures(), +)
        writer.member("requests", figures.requests)
        writer.member("open", figures.open)
        writer.member("answeredInTime", figures.answeredInTime)
        writer.member("answeredLate", figures.answeredLate)
        writer.memberObject("silent") { writer in
            writer.member("total", figures.silentRequests)
            for silence in RefundSilence.allCases { writer.member(silence.rawValue, figures.silent[silence] ?? 0) }
        }
        writer.memberObject("outcomes") { writer in
            for outcome in RefundCase.Outcome.allCases {
                writer.member(outcome.rawValue, figures.outcomes[outcome] ?? 0)
            }
            writer.member("undecided", figures.undecided)
        }
        writer.member("proratedRefunds", figures.proratedRefunds)
        writer.memberOrNull("meanRevocationPercentage", figures.meanRevocationPercentage)
        writer.memberArray("amounts") { writer in
            for (currency, figures) in parts {
                guard let currency else { continue }
                writer.object { writer in
                    writer.member("currency", currency)
                    writer.member("requests", figures.requests)
                    writer.member("requested", JSONNumber(figures.requestedAmount))
                    writer.member("refunded", JSONNumber(figures.refundedAmount))
                }
            }
        }
        writer.member("requestsWithoutPrice", parts.first { $0.currency == nil }?.figures.requests ?? 0)
    }

    // MARK: CSV

    /// The columns behind those of the dimensions.
    private static let columns: [String] =
        ["currency", "requests", "open", "answeredInTime", "answeredLate"]
        + RefundSilence.allCases.map { "silent.\($0.rawValue)" }
        + RefundCase.Outcome.allCases.map { "outcomes.\($0.rawValue)" }
        + ["outcomes.undecided", "proratedRefunds", "meanRevocationPercentage", "requested", "refunded"]

    /// Writes a line with the names of the columns, and one for each row: a group has one for each currency.
    @concurrent static func writeCSV(
        _ report: RefundReport, _ query: RefundReportQuery, to output: inout any ResponseBodyWriter
    ) async throws {
        var writer = CSVWriter()
        for name in query.dimensions.map(\.rawValue) + columns { writer.field(name) }
        writer.endLine()
        for row in report.rows {
            write(row, to: &writer)
            guard writer.count >= pieceBytes else { continue }
            try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        }
        try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        try await output.finish(nil)
    }

    private static func write(_ row: RefundReport.Row, to writer: inout CSVWriter) {
        let figures = row.figures
        for value in row.key.values { writer.field(value) }
        writer.field(row.key.currency)
        for count in [figures.requests, figures.open, figures.answeredInTime, figures.answeredLate] {
            writer.field(count)
        }
        for silence in RefundSilence.allCases { writer.field(figures.silent[silence] ?? 0) }
        for outcome in RefundCase.Outcome.allCases { writer.field(figures.outcomes[outcome] ?? 0) }
        writer.field(figures.undecided)
        writer.field(figures.proratedRefunds)
        writer.field(figures.meanRevocationPercentage)
        let hasPrices = row.key.currency != nil
        writer.field(hasPrices ? figures.requestedAmount : nil)
        writer.field(hasPrices ? figures.refundedAmount : nil)
        writer.endLine()
    }
}
