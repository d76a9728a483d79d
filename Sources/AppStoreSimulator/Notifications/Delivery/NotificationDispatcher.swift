import AppStoreAPI
import Foundation
import Logging
import OpenSSL

/// Signs and sends what is in the outbox when its time has come.
struct NotificationDispatcher: Sendable {
    let state: SimulatorState
    let authority: SigningAuthority
    let sender: NotificationSender
    let logger: Logger

    /// Works until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            var alarms: Set<Int64> = []
            for await _ in state.agendaChanges {
                let now = state.milliseconds
                alarms = alarms.filter { $0 > now }
                let agenda = state.takeDue(now: now)
                for delivery in agenda.deliveries { group.addTask { await attempt(delivery) } }
                for test in agenda.tests { group.addTask { await tester.run(test) } }
                // What is due and waits for others to end is looked for again when they do.
                guard let next = agenda.nextDate, next > now, alarms.insert(next).inserted else { continue }
                group.addTask {
                    // A wait that was cut short does no harm: what is not due is not taken.
                    try? await state.clock.sleep(until: Date(timeIntervalSince1970: Double(next) / 1000))
                    state.agendaChanged()
                }
            }
            group.cancelAll()
        }
    }

    private var tester: PerformanceTestRunner {
        PerformanceTestRunner(state: state, authority: authority, sender: sender, logger: logger)
    }

    private func attempt(_ delivery: NotificationOutbox.Delivery) async {
        let number = delivery.notification.number
        let date = state.milliseconds
        do throws(OpenSSLError) {
            let signed: String
            if let known = delivery.notification.signedPayload {
                signed = known
            } else {
                signed = try authority.sign(delivery.notification)
                state.withContent { $0.outbox.setSignedPayload(signed, of: number) }
            }
            var body = ResponseBodyV2()
            body.signedPayload = signed
            let result = await sender.post(body.serialized(), to: delivery.address, timeout: delivery.timeout)
            state.withContent { $0.outbox.record(result, of: number, at: date) }
        } catch {
            logger.error("notification cannot be signed", metadata: ["number": "\(number)", "error": "\(error)"])
            state.withContent { $0.outbox.record(.other, of: number, at: date) }
        }
        state.bell.ring(.notificationAttempted)
        state.agendaChanged()
    }
}
