// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code ctl access}: the backends of authentication and authorization. */
final class AccessCommands {

    private AccessCommands() {}

    /** Forgets answers. */
    @Command(
            name = "forget",
            description =
                    "Forgets the answers of access backends on all nodes, or on one, so that changes there are in "
                            + "force at once.")
    static final class Forget extends CtlRequest {

        @Mixin
        NodeOption only = new NodeOption();

        Forget(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            only.addTo(query);
            JsonNode answer = api.send("DELETE", BrokerApi.query("/authentication/cache", query), null);
            StringJoiner lines = new StringJoiner("\n");
            answer.path("data")
                    .forEach(row -> lines.add("forgot " + row.path("cleared").asLong() + " answers on "
                            + TextTable.shown(row.path("node"))));
            out.done(answer, lines.toString());
            out.checkComplete(CtlOutput.texts(answer.path("incomplete")), "they may use former answers again");
        }
    }
}
