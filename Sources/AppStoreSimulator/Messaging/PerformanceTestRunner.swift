import AppStoreAPI
import Foundation
import Logging
import OpenSSL

/// Asks an app's realtime URL as often as a performance test demands, in real time.
struct PerformanceTestRunner: Sendable {
    let state: SimulatorState
    let authority: SigningAuthority
    let sender: NotificationSender
    let logger: Logger

    func run(_ test: PerformanceTest) async {
        guard let url = NotificationURL(test.target) else { return }
        let authorities = state.withContent { $0.messaging.settings.certificateAuthorities }
        let address = NotificationAddress(url: url, certificateAuthorities: authorities)
        await withDiscardingTaskGroup { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    for _ in stride(from: lane, to: PerformanceTest.total, by: Self.lanes) {
                        await ask(address, test)
                    }
                }
            }
        }
    }

    private static var lanes: Int { Int(PerformanceTest.config.maxConcurrentRequests ?? 1) }

    private func ask(_ address: NotificationAddress, _ test: PerformanceTest) async {
        var result = SendAttemptResult.other
        let clock = ContinuousClock()
        let start = clock.now
        do throws(OpenSSLError) {
            let body = try requestBody(test)
            let timeout = state.withContent { $0.outbox.timeout }
            result = await sender.post(body, to: address, timeout: timeout)
        } catch {
            logger.error("realtime request cannot be signed", metadata: ["error": "\(error)"])
        }
        let sample = PerformanceTest.Sample(
            result: result, milliseconds: Int64(start.duration(to: clock.now) / .milliseconds(1)))
        state.withContent { $0.messaging.record(sample, of: test.requestID) }
        state.bell.ring(.realtimeURLAsked)
    }

    private func requestBody(_ test: PerformanceTest) throws(OpenSSLError) -> [UInt8] {
        var payload = RealtimeRequestPayload()
        payload.originalTransactionId = test.transaction.originalTransactionId
        payload.appAppleId = test.app.appAppleID
        payload.productId = test.transaction.productId
        payload.userLocale = "en-US"
        payload.requestIdentifier = state.withContent { $0.outbox.uuid() }
        payload.signedDate = state.milliseconds
        payload.environment = .sandbox
        var body = RealtimeRequestBody()
        body.signedPayload = try authority.sign(payload.serialized())
        return body.serialized()
    }
}
