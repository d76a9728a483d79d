/// The numbers of the fields that descriptors have.
///
/// Source: google/protobuf/descriptor.proto; those of ``Option`` from 50001 on are ours, of `api/purser/v1/annotations.proto`.
enum DescriptorNumber {
    enum Set {
        static let file = 1
    }

    enum File {
        static let name = 1
        static let package = 2
        static let dependency = 3
        static let message = 4
        static let enumeration = 5
        static let service = 6
        static let `extension` = 7
    }

    enum Message {
        static let name = 1
        static let field = 2
        static let nested = 3
        static let enumeration = 4
        static let options = 7
    }

    enum Field {
        static let name = 1
        static let extended = 2
        static let number = 3
        static let label = 4
        static let type = 5
        static let typeName = 6
        static let options = 8
        static let jsonName = 10
        static let isOptional = 17
        /// The label of a field that there may be several of.
        static let repeated: UInt64 = 3
    }

    enum FieldType {
        static let double: UInt64 = 1
        static let int64: UInt64 = 3
        static let int32: UInt64 = 5
        static let bool: UInt64 = 8
        static let string: UInt64 = 9
        static let message: UInt64 = 11
        static let bytes: UInt64 = 12
        static let enumeration: UInt64 = 14
    }

    enum Enumeration {
        static let name = 1
        static let value = 2
    }

    enum Value {
        static let number = 2
        static let options = 3
    }

    enum Service {
        static let name = 1
        static let method = 2
    }

    enum Method {
        static let name = 1
        static let input = 2
        static let output = 3
        static let options = 4
        static let streamsAnswers = 6
    }

    enum Option {
        static let mapEntry = 7
        static let route = 50001
        static let place = 50001
        static let list = 50001
        static let text = 50001
        static let additional = 50002
        static let jsonText = 50003
    }

    /// `purser.v1.Route`.
    enum Route {
        static let method = 1
        static let path = 2
        static let body = 3
        static let listeners = 4
        static let scopes = 5
        static let watches = 6
    }
}
