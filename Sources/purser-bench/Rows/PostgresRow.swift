import Foundation

/// Row 14: one, two and four copies on one PostgreSQL, against the same statements by pgbench, and what growth costs.
struct PostgresRow: Row {
    let number = 14
    let title = "Copies on PostgreSQL"
    let reference = "pgbench, the same statements, on the core of the copies"
    let tools = [Tool.nginx, .openssl, .setpriv]

    private static let copies = [1, 2, 4]
    private static let callers = 64
    /// Connections of pgbench: as many transactions at once as can wait for their turn.
    private static let clients = 8
    private static let seconds = 2
    /// How many deliveries wait for the copies to send them.
    private static let backlog = 4000
    /// The first purchase that they are about.
    private static let firstTransaction = 3_000_000_000_000_000

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let cluster = try await PostgresCluster.start(in: bench)
        let scripts = try await Scripts.capture(in: cluster, upstream, bench)
        // Whose they are is asked of Apple before they go.
        try bench.fixtures.write(transactions: Self.firstTransaction..<Self.firstTransaction + Self.backlog)
        var figures: [Figure] = []
        for count in Self.copies {
            figures += try await measure(count, cluster, scripts, upstream, bench)
        }
        return try await figures + growth(cluster, upstream, bench)
    }

    private func measure(
        _ count: Int, _ cluster: PostgresCluster, _ scripts: Scripts, _ upstream: Nginx, _ bench: Bench
    ) async throws -> [Figure] {
        let name = count == 1 ? "1 copy" : "\(count) copies"
        var accepted = Figure(
            "\(name), \(Self.callers) callers, answers accepted", .perSecond, goal: .ratioAtLeast(0.5))
        var notified = Figure("\(name), notifications", .perSecond, goal: .ratioAtLeast(0.5))
        var delivered = Figure("\(name), deliveries claimed and sent", .perSecond, goal: .ratioAtLeast(0.5))
        for repetition in 0..<bench.repetitions {
            let database = "copies_\(count)_\(repetition)"
            let run = (Self.copies.firstIndex(of: count) ?? 0) * bench.repetitions + repetition
            try await cluster.makeDatabase(database)
            var copies = try await Copies.start(count, database, sends: false, cluster, upstream, bench)
            accepted.add(
                try await copies.accept(callers: Self.callers),
                against: try await scripts.rate(of: scripts.accept, Self.clients, Self.seconds))
            notified.add(
                try await copies.notify(senders: Self.callers),
                against: try await scripts.rate(of: scripts.notify, Self.clients, Self.seconds))
            await copies.stop()
            try await queue(Self.backlog, apps: PurserConfiguration.measuredApps, isDue: true, database, cluster)
            copies = try await Copies.start(count, database, sends: true, cluster, upstream, bench)
            delivered.add(
                try await sent(from: database, cluster),
                against: try await scripts.rate(of: scripts.deliver, Self.clients, Self.seconds, run: run))
            await copies.stop()
        }
        return [accepted, notified, delivered]
    }

    /// Waits until everything that was queued by the bench is sent.
    ///
    /// - Returns: how many a second, from the first to the last.
    private func sent(from database: String, _ cluster: PostgresCluster) async throws -> Double {
        let condition = "caller = 'backlog'"
        for _ in 0..<1200 {
            let left = try await cluster.query(
                "SELECT count(*) FROM delivery WHERE \(condition) AND endedAt IS NULL", in: database)
            guard left != "0" else {
                let rate = try await cluster.query(
                    """
                    SELECT count(*) * 1000.0 / greatest(1, max(endedAt) - min(endedAt)) FROM delivery
                    WHERE \(condition) AND state = 'accepted'
                    """, in: database)
                return Double(rate) ?? 0
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchError("deliveries are still queued after two minutes")
    }

    /// How the time of one caller's answer grows, when a start is over and right after it.
    private func growth(_ cluster: PostgresCluster, _ upstream: Nginx, _ bench: Bench) async throws -> [Figure] {
        var figure = Figure(
            "1 copy, 1 caller, p50 with 10,000 apps, 1 M users, 1 M queued", .milliseconds,
            reference: "10 apps, 1,000 users, 1,000 queued", goal: .ratioAtMost(1.2))
        var searching = Figure(
            "the same while the histories of 10,000 apps are searched", .milliseconds,
            reference: "10 apps, 1,000 users, 1,000 queued")
        var sides: [Copies] = []
        for size in [StoreSize.small, .large] {
            let database = "growth_\(size.name)"
            try await cluster.makeDatabase(database)
            // The daemon makes the tables.
            await (try await Copies.start(1, database, apps: size.apps, sends: false, cluster, upstream, bench)).stop()
            try await queue(size.deliveries, apps: size.apps, isDue: false, database, cluster)
            let copies = try await Copies.start(1, database, apps: size.apps, sends: false, cluster, upstream, bench)
            if let few = sides.first { searching.add(try await copies.median(), against: try await few.median()) }
            sides.append(copies)
            try await histories(of: size.apps, in: database, cluster)
        }
        for _ in 0..<bench.repetitions {
            let few = try await sides[0].median()
            figure.add(try await sides[1].median(), against: few)
        }
        for side in sides { await side.stop() }
        return [figure, searching]
    }

    /// Waits until the histories of all apps are searched at Apple, with which a daemon begins, and what that took of Apple's limits is told;
    /// it waits for the server then, so that its own processor time does not tell the end.
    private func histories(of apps: Int, in database: String, _ cluster: PostgresCluster) async throws {
        let searched = "SELECT count(*) FROM historyProgress WHERE completeUntil IS NOT NULL AND pass IS NULL"
        for _ in 0..<1200 {
            // Of both environments; a few slices are in use at any time.
            let isOver = "SELECT (\(searched)) = \(2 * apps) AND (SELECT count(*) FROM budgetSlice) < 32"
            if try await cluster.query(isOver, in: database) == "t" { return }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw BenchError("histories are still searched after ten minutes")
    }

    /// Queues so many deliveries, each of a user with one purchase.
    ///
    /// Links get their numbers here: a million from the one row that counts them, in one transaction, would take hours.
    private func queue(
        _ count: Int, apps: Int, isDue: Bool, _ database: String, _ cluster: PostgresCluster
    ) async throws {
        let body = ConsumptionLoad.body.replacing("'", with: "''")
        let now = "(extract(epoch FROM now()) * 1000)::bigint"
        _ = try await cluster.query(
            """
            INSERT INTO link
                (id, app, "user", kind, value, environment, source, createdAt, createdBy, userFolded)
            SELECT n + 1 + (SELECT coalesce(max(id), 0) FROM link), 'a' || (n % \(apps)), convert_to('user-' || n, 'UTF8'), 'transactionId',
                (\(Self.firstTransaction) + n)::text, 'Sandbox', 'declared', \(now), 'bench', convert_to('user-' || n, 'UTF8')
            FROM generate_series(0, \(count - 1)) AS n;
            INSERT INTO lastPosition (ofTable, position) SELECT 'link', max(id) FROM link
            ON CONFLICT (ofTable) DO UPDATE SET position = excluded.position;
            INSERT INTO delivery
                (id, app, "user", caller, transactionId, environment, version, body, createdAt, deadline, state,
                 isReady, nextAttemptAt, dueAt, attemptCount)
            SELECT '01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), 'a' || (n % \(apps)),
                convert_to('user-' || n, 'UTF8'), 'backlog', (\(Self.firstTransaction) + n)::text, 'Sandbox', 'V2',
                convert_to('\(body)', 'UTF8'), \(now) - 3600000, \(now) + 36000000 + n, 'queued', 0,
                \(now) + \(isDue ? 0 : 21_600_000) + n / 1000, \(now) + \(isDue ? 0 : 21_600_000) + n / 1000, 0
            FROM generate_series(0, \(count - 1)) AS n;
            ANALYZE
            """, in: database)
    }
}

/// Copies of the daemon on one database, all on the core of the service.
private struct Copies {
    private let daemons: [(daemon: PurserDaemon, configuration: PurserConfiguration)]
    private let bench: Bench

    static func start(
        _ count: Int, _ database: String, apps: Int = PurserConfiguration.measuredApps, sends: Bool,
        _ cluster: PostgresCluster, _ upstream: Nginx, _ bench: Bench
    ) async throws -> Copies {
        var daemons: [(PurserDaemon, PurserConfiguration)] = []
        for number in 1...count {
            var configuration = PurserConfiguration(name: "\(database)-\(number)", apps: apps, sends: sends)
            configuration.postgres = cluster.url(database)
            daemons.append(
                (
                    try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench), configuration
                ))
        }
        return Copies(daemons: daemons, bench: bench)
    }

    private init(daemons: [(PurserDaemon, PurserConfiguration)], bench: Bench) {
        self.daemons = daemons.map { (daemon: $0.0, configuration: $0.1) }
        self.bench = bench
    }

    func stop() async {
        for one in daemons { await one.daemon.stop() }
    }

    /// Answers that are accepted in a second, of all copies, which share the callers.
    func accept(callers: Int) async throws -> Double {
        try await together { daemon, configuration in
            try await ConsumptionLoad(daemon, configuration, bench).sample(callers: callers / daemons.count).perSecond
        }
    }

    /// The middle of the times that one caller waits, in milliseconds.
    func median() async throws -> Double {
        let one = daemons[0]
        return try await ConsumptionLoad(one.daemon, one.configuration, bench).sample(callers: 1).median
    }

    /// Notifications that are answered in a second, of all copies.
    func notify(senders: Int) async throws -> Double {
        try await together { daemon, configuration in
            let file = bench.folder.appending(path: "\(configuration.name)-webhook.requests")
            let requests = try (0..<8000 / daemons.count).map { _ in
                try WebhookRow.request(false, bench.fixtures.chain)
            }
            try RequestFile.write(requests, to: file)
            let outcome = try await bench.run(
                LoadProbe(
                    port: daemon.ports.webhook, requests: file.path, connections: senders / daemons.count, seconds: 1),
                core: bench.cores.load)
            guard outcome.answers.keys.allSatisfy({ $0 == 200 }), outcome.broken == 0 else {
                throw BenchError("notifications were answered \(outcome.answers), \(outcome.broken) not at all")
            }
            return outcome.successesPerSecond
        }
    }

    private func together(
        _ body: @escaping @Sendable (PurserDaemon, PurserConfiguration) async throws -> Double
    ) async throws -> Double {
        try await withThrowingTaskGroup(of: Double.self) { group in
            for one in daemons { group.addTask { try await body(one.daemon, one.configuration) } }
            return try await group.reduce(0, +)
        }
    }
}

/// The statements of an answer, a notification and a delivery, as pgbench runs them.
private struct Scripts {
    let accept: StatementScript
    let notify: StatementScript
    let deliver: StatementScript
    private let cluster: PostgresCluster
    private static let database = "statements"
    /// Unlike any other value, so that it is known again in the log.
    private static let firstPosition = 770_000_000
    /// How many deliveries there are for pgbench to claim, each once, and how many of them a run may take.
    private static let (deliveries, deliveriesOfRun) = (50_000, 3000)

    /// Lets a daemon do each once, and reads what it asked the server.
    static func capture(in cluster: PostgresCluster, _ upstream: Nginx, _ bench: Bench) async throws -> Scripts {
        try await cluster.makeDatabase(database)
        var configuration = PurserConfiguration(name: database)
        configuration.postgres = cluster.url(database)
        // With its tables, so that those are not in the log.
        await (try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)).stop()
        _ = try await cluster.query(
            """
            INSERT INTO lastPosition (ofTable, position) VALUES ('notification', \(firstPosition))
            ON CONFLICT (ofTable) DO UPDATE SET position = \(firstPosition)
            """, in: database)
        _ = try await cluster.query("ALTER DATABASE \(database) SET log_statement = 'all'", in: "postgres")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let transaction = "5900000000000000"
        try bench.fixtures.write(transactions: 5_900_000_000_000_000..<5_900_000_000_000_001)
        let answer = ConsumptionLoad.request(5_900_000_000_000_000, app: configuration.measuredApp(0))
        try await send(answer, to: daemon.ports.api, bench)
        try await wait("SELECT count(*) FROM delivery WHERE state = 'accepted'", in: cluster)
        try await send(try WebhookRow.request(false, bench.fixtures.chain), to: daemon.ports.webhook, bench)
        try await wait("SELECT count(*) FROM notification WHERE processedAt IS NOT NULL", in: cluster)
        let uuid = try await cluster.query("SELECT uuid FROM notification", in: database)
        await daemon.stop()
        _ = try await cluster.query("ALTER DATABASE \(database) RESET log_statement", in: "postgres")
        // As the daemon's connections plan.
        for setting in ["enable_seqscan = off", "plan_cache_mode = force_generic_plan", "jit = off"] {
            _ = try await cluster.query("ALTER DATABASE \(database) SET \(setting)", in: "postgres")
        }
        let log = try cluster.log()
        let all = StatementScript.transactions(in: log, about: ["'\(transaction)'"])
        let insertion = all.firstIndex { one in one.statements.contains { $0.text.contains("INSERT INTO delivery\n") } }
        let position = "'\(firstPosition + 1)'"
        let notification = StatementScript.transactions(in: log, about: ["'\(uuid)'", position])
        guard let insertion, insertion + 1 < all.count, !notification.isEmpty else {
            throw BenchError("the server's log does not tell what was asked of it: \(all.count) transactions")
        }
        try await queueCopies(in: cluster)
        return Scripts(
            accept: StatementScript(Array(all[...insertion]), marker: "'\(transaction)'"),
            notify: StatementScript(notification, marker: "'\(uuid)'", position: position),
            deliver: StatementScript(
                Array(all[(insertion + 1)...]), marker: "'\(transaction)'", isCounted: true),
            cluster: cluster)
    }

    /// Queues copies of the one delivery, by the ids that the script will ask for.
    private static func queueCopies(in cluster: PostgresCluster) async throws {
        _ = try await cluster.query(
            """
            INSERT INTO delivery
            SELECT (jsonb_populate_record(d, jsonb_build_object(
                'id', left(d.id, 24) || lpad(n::text, 12, '0'), 'transactionid', '5' || lpad(n::text, 15, '0'),
                'state', 'queued', 'isready', 1, 'nextattemptat', d.createdAt, 'attemptcount', 0,
                'endedat', NULL, 'worker', NULL, 'claimedat', NULL, 'leaseuntil', NULL))).*
            FROM delivery AS d, generate_series(1, \(deliveries)) AS n;
            ANALYZE
            """, in: database)
    }

    /// `run`: a number of its own for each run of a script that counts.
    func rate(of script: StatementScript, _ clients: Int, _ seconds: Int, run: Int = 0) async throws -> Double {
        try await cluster.pgbench(
            script.text, in: Self.database, clients: clients, seconds: seconds, first: 1 + run * Self.deliveriesOfRun)
    }

    private static func send(_ request: [UInt8], to port: Int, _ bench: Bench) async throws {
        let file = bench.folder.appending(path: "one.requests")
        try RequestFile.write([request], to: file)
        let outcome = try await bench.run(
            LoadProbe(port: port, requests: file.path, connections: 1, seconds: 30), core: bench.cores.load)
        guard outcome.successes == 1 else { throw BenchError("a single request was answered \(outcome.answers)") }
    }

    private static func wait(_ question: String, in cluster: PostgresCluster) async throws {
        for _ in 0..<300 {
            if try await cluster.query(question, in: database) != "0" { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchError("nothing came of \(question)")
    }
}
