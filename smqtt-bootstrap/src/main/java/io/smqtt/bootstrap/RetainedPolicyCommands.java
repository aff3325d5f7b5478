// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl retained-policies}: rules for retained messages of some topics. */
final class RetainedPolicyCommands {

    private static final String PATH = "/mqtt/retainer/policies";
    private static final String TOPIC = "topic";
    private static final String PAYLOAD = "max_payload_size";
    private static final String EXPIRY = "msg_expiry_interval";

    private RetainedPolicyCommands() {}

    /** Lists the rules. */
    @Command(name = "list", description = "Lists the rules in their order; the first one that fits decides.")
    static final class Policies extends RuleListCommands.Listed {

        Policies(ProgramContext program) {
            super(
                    program,
                    PATH,
                    List.of(Column.of(TOPIC), Column.of("MAX PAYLOAD", PAYLOAD), Column.of("EXPIRY", EXPIRY)));
        }
    }

    /** Adds a rule. */
    @Command(name = "add", description = "Adds a rule for retained messages behind the others, on all nodes.")
    static final class Add extends RuleListCommands.Added {

        @Parameters(
                paramLabel = "TOPIC",
                description = "Is a topic filter: the rule is for the topics that it matches.")
        String topic = "";

        @Nullable
        @Option(
                names = "--max-payload",
                paramLabel = "BYTES",
                description = "Is the maximum size of a payload that is retained. The default is 256 MiB.")
        Long maxPayload;

        @Option(
                names = "--expiry",
                paramLabel = "SECONDS",
                description = "Removes a retained message after that time. The default is 0: never.")
        long expirySeconds;

        Add(ProgramContext program) {
            super(program, PATH);
        }

        @Override
        ObjectNode rule() {
            ObjectNode rule = BrokerApi.object().put(TOPIC, topic).put(EXPIRY, expirySeconds);
            return maxPayload == null ? rule : rule.put(PAYLOAD, maxPayload);
        }
    }

    /** Deletes a rule. */
    @Command(name = "delete", description = "Deletes a rule for retained messages, on all nodes.")
    static final class Delete extends RuleListCommands.Deleted {

        Delete(ProgramContext program) {
            super(program, PATH);
        }
    }
}
