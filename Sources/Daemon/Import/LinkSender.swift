import Curl
import Foundation
import JSON

/// Hands batches of links to the daemon's admin listener.
struct LinkSender {
    /// Why a line is refused.
    struct Refusal: Error {
        let problems: [ImportProblem]
    }

    typealias Results = [Result<String, Refusal>]

    /// The most links of one request, those told again in a dry run included; the daemon takes no more.
    private static let maximumCount = 1000
    /// How long to wait before a request is tried again, each time; a daemon that starts again needs some seconds.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)]

    private struct Answer: Decodable {
        struct Element: Decodable {
            let outcome: String
            let problem: Problem?
        }

        let results: [Element]
    }

    let send: AdminClient.Send
    var isDryRun: Bool
    let pause: @Sendable (Duration) async throws -> Void
    private var foreseen = ForeseenItems()
    /// Whether the daemon has answered before; one that never did is not waited for.
    private var hasAnswered = false

    init(
        send: @escaping AdminClient.Send, isDryRun: Bool, pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.send = send
        self.isDryRun = isDryRun
        self.pause = pause
    }

    /// Sends what can be sent of these lines, each app's by itself.
    ///
    /// - Returns: what became of each: the outcome's name, or why there is none.
    /// - Throws: `AdminClientError`, `LinkSenderError` when the daemon does not take them.
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
        guard isDryRun else { return [lines] }
        var parts: [[(index: Int, item: ImportItem)]] = [[]]
        var count = 0
        for line in lines {
            let needed = foreseen.earlier(than: line.item, app: app).count + 1
            if count + needed > Self.maximumCount {
                parts.append([])
                count = 0
            }
            parts[parts.count - 1].append(line)
            count += needed
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
            writer.memberArray("links") { writer in
                for json in repeated { writer.raw(json) }
                for item in items { writer.raw(item.json) }
            }
        }
        let target = "/v1/apps/\(CallerKeysCommand.segment(app))/links:import"
        let reply = try await sendAgain(target, writer.bytes)
        if reply.status == 413, items.count > 1 {
            let half = items.count / 2
            let first = try await submit(Array(items[..<half]), app: app)
            return first + (try await submit(Array(items[half...]), app: app))
        }
        let results = try results(of: reply, count: items.count, behind: repeated.count)
        if isDryRun {
            for (item, result) in zip(items, results) {
                if case .success(let outcome) = result, outcome != "unchanged" { foreseen.add(item, app: app) }
            }
        }
        return results
    }

    private func results(of reply: AdminClient.Reply, count: Int, behind: Int) throws -> Results {
        guard reply.isSuccess else {
            let problem = try reply.decoded(Problem.self)
            // The app is wrong, and with it every line that names it.
            guard reply.status == 404 else { throw LinkSenderError(description: problem.detail) }
            let refusal = Refusal(
                problems: [ImportProblem(field: "app", rule: problem.reason, message: problem.detail)])
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
                let reply = try await send(.post, target, body, AdminClient.timeout)
                hasAnswered = true
                guard reply.status == 503 || reply.status == 429 else { return reply }
            } catch let error as AdminClientError {
                guard hasAnswered, error.isPassing else { throw error }
            }
            try await pause(wait)
        }
        return try await send(.post, target, body, AdminClient.timeout)
    }
}

/// What the daemon has against a whole batch.
struct LinkSenderError: Error, CustomStringConvertible {
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
