// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.rules.sql.RuleTrace;
import io.smqtt.spi.Rules;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Evaluates a statement for a message that a person has made up. */
final class RuleTrial {

    private RuleTrial() {}

    static Rules.Trial of(String sql, Map<String, ? extends @Nullable Object> fields, RuleBudget budget) {
        RuleProgram program;
        try {
            program = RuleSql.compile(sql);
        } catch (RuleSqlException e) {
            return new Rules.Trial(e.text(), true, List.of(), List.of());
        }
        RuleTrace trace = new RuleTrace();
        RuleOutcome outcome = program.evaluate(RuleInput.of(fields), budget, trace);
        List<Map<String, @Nullable Object>> clauses =
                trace.clauses().stream().map(RuleTrial::fields).toList();
        if (outcome instanceof RuleOutcome.Rows rows) {
            return new Rules.Trial(null, false, rows.rows(), clauses);
        }
        String problem = outcome instanceof RuleOutcome.Failed failed ? failed.reason() : "SQL Not Match";
        return new Rules.Trial(problem, false, List.of(), clauses);
    }

    private static Map<String, @Nullable Object> fields(RuleTrace.Clause clause) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("clause", clause.clause());
        fields.put("text", clause.text());
        if (clause.failure() == null) {
            fields.put("value", clause.value());
        } else {
            fields.put("failure", clause.failure());
        }
        return fields;
    }
}
