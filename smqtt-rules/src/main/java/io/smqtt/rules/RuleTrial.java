// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.rules.sql.RuleTrace;
import io.smqtt.spi.Rules;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Evaluates a statement for a message that a person has made up. */
final class RuleTrial {

    private static final String NO_MATCH = "SQL Not Match"; // as EMQX says it

    private RuleTrial() {}

    static Rules.Trial of(String sql, Map<String, ? extends @Nullable Object> fields, RuleBudget budget) {
        RuleProgram program;
        RuleSample sample;
        try {
            program = RuleSql.compile(sql);
            sample = RuleSample.of(program, fields);
        } catch (RuleSqlException e) {
            return new Rules.Trial(e.text(), true, List.of(), List.of());
        }
        RuleTrace trace = new RuleTrace();
        RuleOutcome outcome = program.evaluate(sample.input(), budget, trace);
        List<Map<String, @Nullable Object>> clauses = Stream.concat(Stream.of(sample.from()), trace.clauses().stream())
                .map(RuleTrial::fields)
                .toList();
        if (!sample.isSelected()) {
            return new Rules.Trial(NO_MATCH + ": " + sample.reason(), false, List.of(), clauses);
        }
        if (outcome instanceof RuleOutcome.Rows rows) {
            return new Rules.Trial(null, false, rows.rows(), clauses);
        }
        String problem = outcome instanceof RuleOutcome.Failed failed ? failed.reason() : NO_MATCH;
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
