import AppStoreAPI
import JSON
import Testing

/// Holds the models against the data, both ways.
struct ModelContractTests {
    @Test func `every type is one of Apple's, and what has none is only the body of a call`() throws {
        let models = try Set(ModelCatalogue.models().keys)
        let documented = try Set(ContractData.objects().keys)
        #expect(models.subtracting(documented).sorted() == [])
        #expect(documented.subtracting(models).subtracting(try ContractData.bodies()).sorted() == [])
        let enumerations = Set(try ModelCatalogue.openValues().keys).union(ModelCatalogue.closedValues.keys)
        #expect(try enumerations == Set(ContractData.enumerations().keys))
        let declared = Set(try ModuleSources.declarations().map(\.name))
        #expect(Set(ModelCatalogue.appleNames.keys).subtracting(declared).sorted() == [])
    }

    @Test func `a model has the fields that Apple documents, those required included`() throws {
        let objects = try ContractData.objects()
        for (name, type) in try ModelCatalogue.models() {
            let documented = try #require(objects[name]?.object, "\(name)")
            let required = documented.members.filter { $0.value.string?.hasSuffix("!") == true }.map(\.key)
            let fields = Self.fields(of: type)
            #expect(Set(fields.map(\.name)) == Set(documented.keys), "\(name)")
            #expect(fields.count == documented.members.count, "\(name)")
            #expect(Set(fields.filter(\.isRequired).map(\.name)) == Set(required), "\(name)")
        }
    }

    @Test func `a model keeps a value of the documented type in every field`() throws {
        let samples = try SampleBuilder()
        for (name, type) in try ModelCatalogue.models() {
            let sample = try samples.object(name)
            #expect(try Self.rewrite(sample, as: type) == Self.canonical(sample), "\(name)")
            #expect(try Self.missingFields(of: sample, as: type).isEmpty, "\(name)")
        }
    }

    @Test func `an enumeration has the values that Apple documents`() throws {
        let enumerations = try ContractData.enumerations()
        for (name, type) in try ModelCatalogue.openValues() {
            let documented = try #require(enumerations[name]?.array, "\(name)")
            let known = try Self.knownValues(of: type)
            #expect(Set(known.map(\.description)) == Set(documented.map(\.description)), "\(name)")
            #expect(known.count == documented.count, "\(name)")
        }
        for (name, values) in ModelCatalogue.closedValues {
            let documented = try #require(enumerations[name]?.array, "\(name)")
            #expect(Set(values) == Set(documented.compactMap(\.string)), "\(name)")
        }
    }

    private static func fields<Model: WireModel>(of type: Model.Type) -> [(name: String, isRequired: Bool)] {
        type.fields.map { ($0.name, $0.isRequired) }
    }

    private static func missingFields<Model: WireModel>(of value: JSONValue, as type: Model.Type) throws -> [String] {
        try type.init(parsing: value.serialized()).missingFields
    }

    private static func knownValues<Value: OpenValue>(of type: Value.Type) throws -> [JSONValue] {
        try type.known.map { value in
            var writer = JSONWriter()
            writer.value(value)
            return try JSONValue(parsing: writer.bytes)
        }
    }

    /// What a model writes after it has read a value.
    private static func rewrite<Model: WireModel>(_ value: JSONValue, as type: Model.Type) throws -> String {
        try canonical(JSONValue(parsing: type.init(parsing: value.serialized()).serialized()))
    }

    private static func canonical(_ value: JSONValue) -> String { value.serializedString(sortedKeys: true) }
}
