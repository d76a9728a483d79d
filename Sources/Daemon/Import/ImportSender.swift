import Curl
import Foundation
import JSON

/// Hands batches of what is imported to the daemon's admin listener.
struct ImportSender {
    /// Why a line is refused.
    struct Refusal: Error {
        let problems: [ImportProblem]
    }

    typealias Results = [Result<String, Refusal>]

    /// How many bytes go at once, unless it is one item: less than the daemon takes by default.
    private static let maximumBytes = 768 << 10
    /// How long to wait before a request is tried again, each time; a daemon that starts again needs some seconds.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)]

    private struct Answer: Decodable {
        struct Element: Decodable {
            let outcome: String
            let problem: Problem?
        }

        let results: [Element]
    }

    private let kind: ImportKind
    private let send: AdminClient.Send
    var isDryRun: Bool
    private let pause: @Sendable (Duration) async throws -> Void
    private var foreseen = ForeseenItems()
    /// Whether the daemon has answered before; one that never did is not waited for.
    private var hasAnswered = false

    init(
        _ kind: ImportKind, send: @escaping AdminClient.Send, isDryRun: Bool,
        pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.kind = kind
        self.send = send
        self.isDryRun = isDryRun
        self.pause = pause
    }

    /// Sends what can be sent of these lines, each app's by itself.
    ///
    /// - Returns: what became of each: the outcome's name, or why there is none.
    /// - Throws: `AdminClientError`, `ImportSenderError` when the daemon does not take them.
    mutating func submit(
        _ records: ArraySlice<ImportRecord<ImportItem>>, defaultApp: String?
    ) async throws -> Results {
        var results: [Int: Result<String, Refusal>] = [:]
        var apps: [(app: String, lines: [(index: Int, item: ImportItem)])] = []
        for (index, record) in zip(records.indices, records) {
            switch record.content {
            case .failure(let problem): results[index] = .failure(Refusal(problems: [problem]))
            case .success(let item):
                guard let app = item.app ?? defaultApp else {
                    results[index] = .failure(Refusal(problems: [Self.appMissing]))
                    continue
                }
                if let place = apps.firstIndex(where: { $0.app == app }) {
                    apps[place].lines.append((index, item))
                } else {
                    apps.append((app, [(index, item)]))
                }
            }
        }
        for (app, lines) in apps {
            for part in parts(of: lines, app) {
                let found = try await submit(part.map(\.item), app: app)
                for (line, result) in zip(part, found) { results[line.index] = result }
            }
        }
        return records.indices.compactMap { results[$0] }
    }

    private static var appMissing: ImportProblem {
        ImportProblem(
            field: "app", rule: "required",
            message: "The line names no app; give it a column `app`, or the command the option `--app`.")
    }

    /// Cuts lines so that each part, with what it must be told again, fits into a request.
    private func parts(
        of lines: [(index: Int, item: ImportItem)], _ app: String
    ) -> [[(index: Int, item: ImportItem)]] {
        var parts: [[(index: Int, item: ImportItem)]] = [[]]
        var (count, bytes) = (0, 0)
        for line in lines {
            let needed = (isDryRun ? foreseen.earlier(than: line.item, app: app).count : 0) + 1
            if count > 0, count + needed > kind.maximumBatch || bytes + line.item.json.count > Self.maximumBytes {
                parts.append([])
                (count, bytes) = (0, 0)
            }
            parts[parts.count - 1].append(line)
            count += needed
            bytes += line.item.json.count
        }
        return parts
    }

    private mutating func submit(_ items: [ImportItem], app: String) async throws -> Results {
        var repeated: [ArraySlice<UInt8>] = []
        if isDryRun {
            var told: Set<Int> = []
            for item in items where told.insert(item.identity).inserted {
                repeated += foreseen.earlier(than: item, app: app)
            }
        }
        var writer = JSONWriter(capacity: 256 * (items.count + repeated.count))
        writer.object { writer in
            writer.member("dryRun", isDryRun)
            writer.memberArray(kind.name) { writer in
                for json in repeated { writer.raw(json) }
                for item in items { writer.raw(item.json) }
            }
        }
        let target = "/v1/apps/\(CallerKeysCommand.segment(app))/\(kind.name):import"
        let reply = try await sendAgain(target, writer.bytes)
        if reply.status == 413, items.count > 1 {
            let half = items.count / 2
            let first = try await submit(Array(items[..<half]), app: app)
            return first + (try await submit(Array(items[half...]), app: app))
        }
        let results = try results(of: reply, count: items.count, behind: repeated.count)
        if isDryRun, kind.isCumulative {
            for (item, result) in zip(items, results) {
                if case .success(let outcome) = result, outcome != "unchanged" { foreseen.add(item, app: app) }
            }
        }
        return results
    }

    private func results(of reply: AdminClient.Reply, count: Int, behind: Int) throws -> Results {
        guard reply.isSuccess else {
            let problem = try reply.decoded(Problem.self)
            // The app is wrong, and with it every line that names it; or one line alone is longer than the daemon takes.
            guard reply.status == 404 || reply.status == 413 else {
                throw ImportSenderError(description: problem.detail)
            }
            let (field, hint) =
                reply.status == 404
                ? ("app", "") : ("", " `listeners.admin.maximumBodyBytes` of the configuration says how much it takes.")
            let refusal = Refusal(
                problems: [ImportProblem(field: field, rule: problem.reason, message: problem.detail + hint)])
            return Array(repeating: .failure(refusal), count: count)
        }
        let elements = try reply.decoded(Answer.self).results.dropFirst(behind)
        guard elements.count == count else { throw AdminClientError.answerUnreadable }
        return elements.map { element in
            guard let problem = element.problem else { return .success(element.outcome) }
            let violations = problem.violations ?? []
            let problems = violations.map { ImportProblem(field: $0.field, rule: $0.rule, message: $0.message) }
            let whole = ImportProblem(
                rule: problem.reason, message: problem.detail, user: problem.user ?? "", owner: problem.owner ?? "")
            return .failure(Refusal(problems: problems.isEmpty ? [whole] : problems))
        }
    }

    /// Sends a request until there is an answer that does not depend on the moment.
    ///
    /// It may have arrived when no answer came: the same again changes nothing.
    private mutating func sendAgain(_ target: String, _ body: [UInt8]) async throws -> AdminClient.Reply {
        for wait in Self.pauses {
            do {
                let reply = try await send(.post, target, body, nil)
                hasAnswered = true
                guard reply.status == 503 || reply.status == 429 else { return reply }
            } catch let error as AdminClientError {
                guard hasAnswered, error.isPassing else { throw error }
            }
            try await pause(wait)
        }
        return try await send(.post, target, body, nil)
    }
}

/// What the daemon has against a whole batch.
struct ImportSenderError: Error, CustomStringConvertible {
    let description: String
}

extension AdminClientError {
    /// Whether the daemon may be there again soon.
    fileprivate var isPassing: Bool {
        switch self {
        case .notRunning, .noAnswer: true
        case .switchedOff, .notPermitted, .answerUnreadable: false
        }
    }
}
