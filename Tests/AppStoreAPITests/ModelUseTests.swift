import Testing

/// Apple documents more than the product needs: a type is left out until daemon or simulator reads or writes it.
struct ModelUseTests {
    /// What is to be signed for callers: the product types it ahead, so that nothing uses it yet.
    private static let awaited: Set = [
        "AdvancedCommerceOneTimeChargeCreateRequest", "AdvancedCommerceSubscriptionCreateRequest",
        "AdvancedCommerceSubscriptionModifyInAppRequest", "AdvancedCommerceSubscriptionReactivateInAppRequest",
        "PromotionalOfferSignatureV1",
    ]

    @Test func `every model and enumeration is used, or is part of one that is`() throws {
        let declarations = try ModuleSources.declarations()
        let reached = Self.reached(from: try ModuleSources.namesOfUsers().union(Self.awaited), declarations)
        let types = declarations.filter { ["WireModel", "OpenValue"].contains($0.inherited) }.map(\.name)
        #expect(types.count > 100)
        #expect(types.filter { !reached.contains($0) }.sorted() == [])
    }

    @Test func `what is said to be awaited is there and not used`() throws {
        let declarations = try ModuleSources.declarations()
        let reached = Self.reached(from: try ModuleSources.namesOfUsers(), declarations)
        #expect(Self.awaited.intersection(reached).sorted() == [])
        #expect(Self.awaited.subtracting(declarations.map(\.name)).sorted() == [])
    }

    /// The declared types among some names, those that they are made of, and so on.
    private static func reached(
        from names: Set<String>, _ declarations: [ModuleSources.Declaration]
    ) -> Set<String> {
        let parts = Dictionary(uniqueKeysWithValues: declarations.map { ($0.name, $0.names) })
        var reached: Set<String> = []
        var next = names.intersection(parts.keys)
        while !next.isEmpty {
            reached.formUnion(next)
            next = next.reduce(into: Set()) { $0.formUnion(parts[$1] ?? []) }.intersection(parts.keys)
                .subtracting(reached)
        }
        return reached
    }
}
