// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** Lists the types that objects of one kind may have, or the keys of one type. */
abstract class TypeKeys extends CtlRequest {

    private static final List<Column> COLUMNS = List.of(
            Column.of("name"), Column.of("type"), new Column("DEFAULT", TypeKeys::fallback), Column.of("description"));

    private final String types;

    @Nullable
    @Parameters(arity = "0..1", paramLabel = "TYPE", description = "Is the type whose keys are listed.")
    String type;

    /**
     * Creates a command.
     *
     * @param types the path of the types in the API
     */
    TypeKeys(ProgramContext program, String types) {
        super(program);
        this.types = types;
    }

    @Override
    final void run(BrokerApi api, CtlOutput out) throws IOException {
        JsonNode found = api.get(type == null ? types : BrokerApi.path(types + "/{type}", type));
        if (out.isJson()) {
            out.object(found);
            return;
        }
        if (type == null) {
            CtlOutput.texts(found).forEach(out::line);
            return;
        }
        ArrayNode keys = BrokerApi.array();
        found.path("common_keys").forEach(keys::add);
        found.path("keys").forEach(keys::add);
        out.table(COLUMNS, keys);
    }

    private static String fallback(JsonNode key) {
        return key.path("required").asBoolean() ? "required" : TextTable.shown(key.path("default"));
    }
}
