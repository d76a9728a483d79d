import Curl
import Foundation
import JSON

/// Runs what an operator asks: one request, or one for each page.
package struct OperatorQueryCommand: Sendable {
    /// Entries of a page.
    private static let pageSize = 100

    private let daemon: RunningDaemon
    private let format: OperatorQuery.Format

    package init(daemon: RunningDaemon, format: OperatorQuery.Format) {
        self.daemon = daemon
        self.format = format
    }

    /// Asks, and says what came.
    ///
    /// - Returns: `success` with what is asked for, or `failure` with the daemon's reason.
    package func run(_ query: OperatorQuery) async -> CommandOutcome {
        await RunningDaemon.outcome {
            try await daemon.client().withConnection { send in
                guard let list = query.list, let limit = query.limit else {
                    let body = query.body?.serialized()
                    let reply = try await send(query.method, query.target, body, nil)
                    // The report of health is one whatever its status.
                    guard reply.isSuccess || query.target == "/healthz" else { return try RunningDaemon.refusal(reply) }
                    let answer = try Self.parsed(reply)
                    return outcome(answer, query.list.map { Self.rows(of: answer, $0.member, $0.columns) })
                }
                return try await pages(query, list, limit, send)
            }
        }
    }

    private func pages(
        _ query: OperatorQuery, _ list: (member: String, columns: [OperatorQuery.Column]), _ limit: Int,
        _ send: AdminClient.Send
    ) async throws -> CommandOutcome {
        var entries: [JSONValue] = []
        var token: String?
        repeat {
            var target = query.target + (query.target.contains("?") ? "&" : "?")
            target += "pageSize=\(min(Self.pageSize, limit - entries.count))"
            if let token { target += "&pageToken=\(CallerKeysCommand.segment(token))" }
            let reply = try await send(.get, target, nil, nil)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            let page = try Self.parsed(reply)
            entries += page[list.member]?.array ?? []
            token = page["nextPageToken"]?.string
        } while token != nil && entries.count < limit
        let whole = JSONValue.object(JSONObject([(list.member, .array(entries))]))
        var outcome = outcome(whole, Self.rows(of: whole, list.member, list.columns))
        if token != nil {
            outcome = CommandOutcome(
                .success, output: outcome.output, errorOutput: "There are more; --limit shows more than \(limit).\n")
        }
        return outcome
    }

    private func outcome(_ answer: JSONValue, _ rows: [[String]]?) -> CommandOutcome {
        switch format {
        case .json: CommandOutcome(.success, output: answer.serializedString(pretty: true) + "\n")
        case .table: CommandOutcome(.success, output: rows.map(TextTable.text(of:)) ?? TextTable.lines(of: answer))
        }
    }

    private static func parsed(_ reply: AdminClient.Reply) throws -> JSONValue {
        // Some acts have nothing to say.
        if reply.body.isEmpty { return .object(JSONObject()) }
        do {
            return try JSONValue(parsing: reply.body)
        } catch {
            throw AdminClientError.answerUnreadable
        }
    }

    /// The titles, then a row for each entry.
    private static func rows(
        of answer: JSONValue, _ member: String, _ columns: [OperatorQuery.Column]
    ) -> [[String]] {
        [columns.map(\.title)]
            + (answer[member]?.array ?? []).map { entry in
                columns.map { column in
                    let value = column.member.split(separator: ".").reduce(Optional(entry)) { $0?[String($1)] }
                    return TextTable.text(of: value ?? .null)
                }
            }
    }
}

/// JSON as people read it.
enum TextTable {
    /// Rows as a table whose columns are as wide as they must be; the first row has the titles.
    static func text(of rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
            // Nothing stands behind the last column.
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }

    /// A value's members, each on a line of its own; those of objects within under both names.
    static func lines(of value: JSONValue) -> String {
        let members = members(of: value, under: "")
        let width = members.map(\.name.count).max() ?? 0
        return members.map { name, text in
            name.padding(toLength: width, withPad: " ", startingAt: 0) + "  \(text)\n"
        }.joined()
    }

    private static func members(of value: JSONValue, under name: String) -> [(name: String, text: String)] {
        let prefix = name.isEmpty ? "" : name + "."
        if let object = value.object, !object.members.isEmpty {
            return object.members.flatMap { member in members(of: member.value, under: prefix + member.key) }
        }
        if let array = value.array, array.contains(where: { $0.object != nil }) {
            return array.enumerated().flatMap { members(of: $1, under: "\(name)[\($0)]") }
        }
        return [(name, text(of: value))]
    }

    /// A value on one line, safe for a terminal: what others have sent may hold control characters.
    static func text(of value: JSONValue) -> String {
        let text: String
        switch value {
        case .null: text = "–"
        case .string(let string): text = string
        case .array(let values): text = values.map { self.text(of: $0) }.joined(separator: ", ")
        default: text = value.serializedString()
        }
        return String(text.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : $0 })
    }
}
