import AppStoreAPI

/// The types that stand for Apple's objects and enumerations, found in the module's sources: nobody has to list a new one
/// before it is held against what Apple documents.
enum ModelCatalogue {
    /// The type of every object that has one, by Apple's name.
    static func models() throws -> [String: any WireModel.Type] {
        try types(conformingTo: "WireModel") { $0 as? any WireModel.Type }
    }

    /// The type of every enumeration whose values can be received, by Apple's name.
    static func openValues() throws -> [String: any OpenValue.Type] {
        try types(conformingTo: "OpenValue") { $0 as? any OpenValue.Type }
    }

    /// The values of enumerations that are only sent, by Apple's name.
    static let closedValues = [
        "TransactionHistoryRequest.Order": HistoryQuery.SortOrder.allCases.map(\.rawValue),
        "TransactionHistoryRequest.ProductType": HistoryQuery.ProductTypeFilter.allCases.map(\.rawValue),
    ]

    /// Apple's names of the types that have another here, because theirs say too little or are not Swift's way.
    static let appleNames = [
        "AppTransactionPayload": "AppTransaction",
        "NotificationData": "Data",
        "NotificationPayload": "ResponseBodyV2DecodedPayload",
        "ProductType": "Type",
        "RealtimeRequestPayload": "DecodedRealtimeRequestBody",
        "RealtimeURLRequest": "RealtimeUrlRequest",
        "RealtimeURLResponse": "RealtimeUrlResponse",
        "RenewalInfoPayload": "JWSRenewalInfoDecodedPayload",
        "SubscriptionStatus": "Status",
        "TransactionPayload": "JWSTransactionDecodedPayload",
    ]

    private static func types<Type>(
        conformingTo name: String, _ cast: (any Any.Type) -> Type?
    ) throws -> [String: Type] {
        var types: [String: Type] = [:]
        for declaration in try ModuleSources.declarations() where declaration.inherited == name {
            let typeName = declaration.name
            // The mangled name of a structure of the module; Swift finds types by it, but offers no list of conformances.
            guard let type = _typeByName("11AppStoreAPI\(typeName.utf8.count)\(typeName)V").flatMap(cast),
                types.updateValue(type, forKey: appleNames[typeName] ?? typeName) == nil
            else { throw ContractData.Missing(name: typeName) }
        }
        return types
    }
}
