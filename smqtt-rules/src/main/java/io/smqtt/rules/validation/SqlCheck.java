// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A statement of the rule language by which a payload is valid if it selects the message. Immutable. */
@AnyThread
final class SqlCheck {

    private final RuleProgram program;

    private SqlCheck(RuleProgram program) {
        this.program = program;
    }

    /**
     * Compiles the statement of a check.
     *
     * @return null if it is empty
     * @throws ConfigurationException if it is not valid
     */
    static @Nullable SqlCheck of(String name, String sql) {
        try {
            return sql.isEmpty() ? null : new SqlCheck(RuleSql.compile(sql));
        } catch (RuleSqlException e) {
            throw new ConfigurationException("validations." + name + ".sql", "has a mistake: " + e.text());
        }
    }

    /** Why a payload is not valid; null if it is. Takes time. */
    @Nullable
    String problem(ClientIdentity client, ApplicationMessage message) {
        RuleOutcome outcome = program.evaluate(RuleInput.of(fields(client, message)), RuleBudget.DEFAULT);
        if (outcome instanceof RuleOutcome.Failed failed) {
            return failed.reason();
        }
        return outcome instanceof RuleOutcome.Rows ? null : "the statement does not select it";
    }

    private static Map<String, @Nullable Object> fields(ClientIdentity client, ApplicationMessage message) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("clientid", client.clientId());
        fields.put("username", client.userName());
        fields.put("payload", message.payload().toByteArray());
        fields.put("topic", message.topic().value());
        fields.put("qos", message.qos().level());
        fields.put("flags", Map.of("retain", message.retain()));
        return fields;
    }
}
