// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Statements, from text to rows. */
class RuleSqlTest {

    private static final Map<String, Object> EVENT =
            Map.of("clientid", "c1", "topic", "t/1", "qos", 1, "payload", "{\"temp\":21.5,\"a\":[1,2,{\"b\":3}]}");

    private static RuleOutcome run(String sql) throws RuleSqlException {
        return RuleSql.compile(sql).evaluate(RuleInput.of(EVENT), RuleBudget.DEFAULT);
    }

    private static Map<String, Object> row(String sql) throws RuleSqlException {
        RuleOutcome outcome = run(sql);
        assertThat(outcome).isInstanceOf(RuleOutcome.Rows.class);
        return ((RuleOutcome.Rows) outcome).rows().get(0);
    }

    @Test
    void selectsFieldsAndPathsThatFulfilTheCondition() throws RuleSqlException {
        assertThat(row("SELECT payload.temp AS t, clientid FROM \"t/#\" WHERE payload.temp > 20"))
                .isEqualTo(Map.of("t", 21.5, "clientid", "c1"));
        assertThat(run("SELECT payload.temp AS t FROM \"t/#\" WHERE payload.temp > 30"))
                .isEqualTo(new RuleOutcome.NoMatch());
    }

    @Test
    void sourcesAreThoseOfFrom() throws RuleSqlException {
        assertThat(RuleSql.compile("select * from \"t/#\", '$events/client_connected'")
                        .sources())
                .isEqualTo(List.of("t/#", "$events/client_connected"));
    }
}
