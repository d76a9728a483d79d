import Domain
import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

/// Whatever the order in which facts become known, the end is that of the order in which they happened.
///
/// Each story is told to the real store and the real services, and what is then under way goes through the gate; a small
/// model knows the end. `make permutations` tells more and longer ones.
struct PermutationTests {
    /// How much is told: `long` by `make permutations`, `short` where a sanitizer slows down every step.
    private enum Extent: String {
        case short, usual, long

        static let chosen =
            ProcessInfo.processInfo.environment["PERMUTATIONS"].flatMap(Extent.init(rawValue:)) ?? .usual

        /// How many facts a sequence has at most.
        var sequenceLength: Int {
            switch self {
            case .short: 2
            case .usual: 3
            case .long: 4
            }
        }
        var sequenceCount: Int {
            switch self {
            case .short: 362
            case .usual: 6_176
            case .long: 99_200
            }
        }
        var longerStories: (count: Int, lengths: ClosedRange<Int>) {
            switch self {
            case .short: (200, 4...8)
            case .usual: (1_000, 4...8)
            case .long: (20_000, 5...12)
            }
        }
    }

    @Test func `every sequence of a few facts ends as it must`() async throws {
        let sequences = (0...Extent.chosen.sequenceLength).flatMap(Fact.sequences)
        #expect(sequences.count == Extent.chosen.sequenceCount)
        try await Self.tell(sequences.map { Story($0) })
    }

    @Test func `every sequence of a few facts ends the same when reports are late`() async throws {
        var random = SeededRandom(seed: 1)
        var sequences = (2...Extent.chosen.sequenceLength).flatMap(Fact.sequences)
        // Half of them, drawn, where they are not told for their own sake: they take a third of all tests' time.
        if Extent.chosen == .usual { sequences = Array(sequences.shuffled(using: &random).prefix(sequences.count / 2)) }
        try await Self.tell(sequences.map { Story($0, delaying: &random) })
    }

    @Test func `longer stories drawn at random end as they must, however late reports are`() async throws {
        var random = SeededRandom(seed: 2)
        let (count, lengths) = Extent.chosen.longerStories
        let stories = (0..<count).map { _ in
            Story(
                Array(Fact.allCases.shuffled(using: &random).prefix(Int.random(in: lengths, using: &random))),
                delaying: &random)
        }
        try await Self.tell(stories)
    }

    /// Tells stories to one store, each of an app of its own, many at a time so that their commits share the disk.
    private static func tell(_ stories: [Story]) async throws {
        for batch in stride(from: 0, to: stories.count, by: 5_000).map({ stories[$0..<min($0 + 5_000, stories.count)] })
        {
            let worlds = batch.enumerated().map { PermutationWorld(story: $0.element, number: $0.offset) }
            let folder = FileManager.default.temporaryDirectory.appending(path: "purser-facts-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let store = try await SQLiteStore.open(
                at: folder.appending(path: "purser.db").path, apps: worlds.map(\.app), secrets: UnsealedSecrets())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, world) in worlds.enumerated() {
                    if index >= 64 { try await group.next() }
                    group.addTask { try await world.tell(to: store) }
                }
                try await group.waitForAll()
            }
            try await PermutationWorld.send(store)
            for world in worlds { try await world.check(store) }
            await store.close()
        }
    }
}
