// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.schema;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import java.util.Map;
import java.util.Objects;

/**
 * A JSON Schema as a live object, which has its name as its identifier.
 *
 * @param source the JSON Schema
 * @param description a text of operators; may be empty
 */
record SchemaObject(String source, String description) {

    /** The form in the store and in exports. */
    static final ObjectFormat<SchemaObject> FORMAT = new ObjectFormat<>() {

        @Override
        public SchemaObject read(String id, JsonFields fields) {
            return new SchemaObject(
                    fields.text("source"), Objects.requireNonNullElse(fields.textOrNull("description"), ""));
        }

        @Override
        public Map<String, Object> write(SchemaObject value) {
            return Map.of("source", value.source(), "description", value.description());
        }
    };
}
