import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// After the answer to a withdrawal or an erasure no byte leaves until consent is recorded again.
///
/// Raced thousands of times, every order left to chance; `ConsentServiceTests` holds each order on its own.
@Suite(.endsHangs) struct WithdrawalRaceTests {
    /// A stretch in the order of hand-overs in which nothing of a user may be handed over.
    private struct Silence {
        let user: Int
        let begin: Int
        let end: Int
    }

    private static let users = 8

    private static func token(_ user: Int) -> String { "0b1c2d3e-0000-4000-8000-00000000000\(user)" }

    /// One that answers name together with the user, and one of which only Apple knows whose it is.
    private static func transactionIDs(_ user: Int) -> [String] { ["\(user)", "\(user)0"] }

    private typealias TakeBack = @Sendable (DeliveryFixture, UserID) async throws -> Void

    /// `namesUsers`: whether every answer names its user; else Apple must be asked whose the purchase of every second one is.
    private func race(rounds: Int, namesUsers: Bool, takeBack: @escaping TakeBack) async throws {
        let accounts = (1...Self.users).map { user in
            Self.transactionIDs(user).map { Transaction.sample(id: $0, token: Self.token(user)) }
        }
        try await DeliveryFixture.with(accounts: accounts) { fixture in
            for number in 1...Self.users where !namesUsers {
                _ = try await fixture.store.store.declare(
                    try Link.sample(.appAccountToken, Self.token(number), user: "user-\(number)"), transfer: false)
            }
            let silences = try await withThrowingTaskGroup(of: [Silence].self) { group in
                for number in 1...Self.users {
                    group.addTask {
                        try await Self.silences(of: number, rounds, namesUsers: namesUsers, fixture, takeBack)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            check(silences, fixture.gateway.handOvers)
            #expect(silences.count == rounds * Self.users)
        }
    }

    /// What a user of the race does, over and over: agree, send, take back.
    private static func silences(
        of number: Int, _ rounds: Int, namesUsers: Bool, _ fixture: DeliveryFixture, _ takeBack: TakeBack
    ) async throws -> [Silence] {
        let user = try UserID("user-\(number)")
        var silences: [Silence] = []
        for round in 1...rounds {
            try await fixture.record(user.value, isConsented: true)
            // Each a different answer, so that none is taken for another.
            for (part, transactionID) in transactionIDs(number).enumerated() {
                let isNamed = namesUsers || part == 0
                _ = try await fixture.send(
                    isNamed ? .user(user, transactionID: transactionID) : .transaction(transactionID),
                    answer: DeliveryFixture.answer(Int32(round * 2 + part)))
            }
            fixture.gateway.linger(turns: Int.random(in: 0...40))
            for _ in 0..<Int.random(in: 0...60) { await Task.yield() }
            try await takeBack(fixture, user)
            let begin = fixture.gateway.mark()
            for _ in 0..<Int.random(in: 0...60) { await Task.yield() }
            silences.append(Silence(user: number, begin: begin, end: fixture.gateway.mark()))
        }
        return silences
    }

    private func check(_ silences: [Silence], _ handOvers: [FakeAppStoreGateway.HandOver]) {
        let byTransaction = Dictionary(grouping: handOvers, by: \.message.transactionID)
        for silence in silences {
            let loud = Self.transactionIDs(silence.user).flatMap { byTransaction[$0, default: []] }.filter {
                $0.begin < silence.end && ($0.end ?? .max) > silence.begin
            }
            #expect(loud.isEmpty, "\(silence)")
        }
        // Else the race was none.
        #expect(!handOvers.isEmpty)
    }

    @Test func `no byte leaves after the answer to a withdrawal`() async throws {
        try await race(rounds: 200, namesUsers: false) { fixture, user in
            let outcome = try await fixture.record(user.value, isConsented: false)
            let isEnded = (outcome.cancelled + outcome.mayHaveBeenSent).allSatisfy { $0.state.isFinal }
            #expect(isEnded)
        }
    }

    @Test func `no byte leaves after the answer to an erasure`() async throws {
        try await race(rounds: 50, namesUsers: true) { fixture, user in
            let report = try await fixture.consent.erase(app: DeliveryFixture.app, user: user, by: .caller("shop"))
            let isEnded = (report.cancelled + report.sending).allSatisfy { $0.state.isFinal }
            #expect(isEnded)
        }
    }
}
