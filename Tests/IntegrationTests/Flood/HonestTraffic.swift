import Curl
import Foundation
import JSON
import Listener
import Synchronization
import TestSupport

/// How honest requests fared.
struct HonestFigures: Sendable {
    /// How long each answer took that was the right one.
    private(set) var times: [Duration] = []
    /// What came instead of a right answer.
    private(set) var failures: [String] = []

    mutating func add(_ outcome: Outcome) {
        switch outcome {
        case .answered(let time): times.append(time)
        case .failed(let reason): failures.append(reason)
        }
    }

    var count: Int { times.count + failures.count }

    /// The time within which a share of the answers came, in milliseconds; nil where there was none.
    func percentile(_ share: Double) -> Double? {
        let sorted = times.sorted()
        return sorted.isEmpty ? nil : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))].inSeconds * 1000
    }

    enum Outcome: Sendable {
        case answered(Duration)
        case failed(String)
    }
}

/// Those who use the service as they should: each asks, waits for the answer, and comes back some time later.
struct HonestTraffic: Sendable {
    /// What each does again and again, and how it went; each has a client of its own.
    let clients: [@Sendable () async -> HonestFigures.Outcome]
    /// How long each waits after an answer.
    var pause = Duration.milliseconds(50)

    /// Lets all of them ask for so long.
    func go(on time: Duration) async -> HonestFigures {
        let end = ContinuousClock.now + time
        return await everybody { _ in
            try? await Task.sleep(for: pause)
            return ContinuousClock.now < end
        }
    }

    /// Lets each of them ask so many times, without a pause.
    func ask(times count: Int) async -> HonestFigures { await everybody { $0 < count } }

    private func everybody(_ goesOn: @escaping @Sendable (Int) async -> Bool) async -> HonestFigures {
        await withTaskGroup(of: HonestFigures.self) { group in
            for client in clients {
                group.addTask {
                    var figures = HonestFigures()
                    while await goesOn(figures.count) { figures.add(await client()) }
                    return figures
                }
            }
            var all = HonestFigures()
            for await figures in group {
                for time in figures.times { all.add(.answered(time)) }
                for failure in figures.failures { all.add(.failed(failure)) }
            }
            return all
        }
    }
}

/// Asks as programs do that are not of our making, with libcurl.
struct HonestClient: Sendable {
    private let curl: CurlClient
    private let stage: DaemonStage
    private let content: SignedContent
    private let patience: Duration

    /// `patience`: how long somebody honest waits; `authority`: the file of the webhook's certificate authority.
    init(_ stage: DaemonStage, patience: Duration = .seconds(20), authority: String? = nil) throws {
        self.patience = patience
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = authority
        configuration.maximumConnectionsPerHost = 64
        curl = try CurlClient(configuration: configuration)
        self.stage = stage
        content = SignedContent(stage: stage)
    }

    func shutdown() async { await curl.shutdown() }

    private func ask(
        _ method: CurlRequest.Method, _ url: String, token: String? = nil, body: [UInt8]? = nil, onNewConnection: Bool
    ) async -> (outcome: HonestFigures.Outcome, body: [UInt8]) {
        var request = CurlRequest(method, url, body: body, connectTimeout: patience, totalTimeout: patience)
        request.headers = [("Content-Type", "application/json")]
        if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
        request.allowsClearText = true
        request.needsOwnConnection = onNewConnection
        do {
            let answer = try await curl.perform(request)
            guard answer.status == 200 else { return (.failed("\(answer.status)"), answer.body) }
            return (.answered(answer.total), answer.body)
        } catch {
            return (.failed("\(error)"), [])
        }
    }

    /// Apple posts a new notification, each on a connection of its own.
    func notify() async -> HonestFigures.Outcome {
        guard let body = try? content.test() else { return .failed("a notification cannot be signed") }
        return await ask(.post, stage.webhook(), body: body, onNewConnection: true).outcome
    }

    /// A caller reads something, on connections that it keeps.
    func get(_ target: String, as token: String) async -> HonestFigures.Outcome {
        await ask(
            .get, "http://127.0.0.1:\(stage.apiPort)\(target)", token: token, onNewConnection: false
        ).outcome
    }

    /// A probe reads `/livez`, each time on a new connection.
    func probe() async -> HonestFigures.Outcome {
        await ask(.get, "http://127.0.0.1:\(stage.port(of: "health"))/livez", onNewConnection: true).outcome
    }

    /// A caller makes a gRPC call, each time on a new connection.
    func call(as token: String) async -> HonestFigures.Outcome {
        let start = ContinuousClock.now
        do {
            let address = BoundAddress.tcp(host: "127.0.0.1", port: stage.port(of: "grpc"))
            let reply = try await GRPCProbe.with(address, token: token) { grpc in
                try await grpc.call("ListApps", "{}", timeout: patience)
            }
            return reply.code == "OK" ? .answered(start.duration(to: .now)) : .failed(reply.code)
        } catch {
            return .failed("\(error)")
        }
    }

    /// Apple asks about a consumption; it took as long as it takes until the app's service knows of the case.
    func requestConsumption(of app: String, as token: String) async -> HonestFigures.Outcome {
        let start = ContinuousClock.now
        guard let purchase = try? content.purchase(of: app),
            let body = try? content.consumptionRequest(about: purchase.signed, of: app)
        else { return .failed("a notification cannot be signed") }
        let posted = await ask(.post, stage.webhook(app), body: body, onNewConnection: true).outcome
        guard case .answered = posted else { return posted }
        let api = "http://127.0.0.1:\(stage.apiPort)/v1/apps/\(app)"
        while start.duration(to: .now) < patience {
            let target = "\(api)/cases?transactionId=\(purchase.id)"
            let answer = await ask(.get, target, token: token, onNewConnection: false)
            guard case .answered = answer.outcome else { return answer.outcome }
            let cases = (try? JSONValue(parsing: answer.body))?["cases"]?.array
            if cases?.isEmpty == false { return .answered(start.duration(to: .now)) }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return .failed("no case")
    }
}
