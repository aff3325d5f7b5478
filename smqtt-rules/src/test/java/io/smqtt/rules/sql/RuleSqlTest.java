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

    @Test
    void aliasesAreKnownToColumnsBehindThemAndToWhere() throws RuleSqlException {
        assertThat(row("SELECT payload.temp AS t, t * 2 AS u FROM 't/#' WHERE u > 40"))
                .isEqualTo(Map.of("t", 21.5, "u", 43.0));
    }

    @Test
    void aConditionThatNeedsNoAliasIsEvaluatedFirst() throws RuleSqlException {
        assertThat(run("SELECT 1 / 0 AS x FROM 't/#' WHERE clientid = 'other'")).isEqualTo(new RuleOutcome.NoMatch());
        assertThat(run("SELECT 1 / 0 AS x FROM 't/#' WHERE clientid = 'c1'"))
                .isEqualTo(new RuleOutcome.Failed("division by zero"));
    }

    @Test
    void valuesWithoutAliasAreCalledAsTheyAreWritten() throws RuleSqlException {
        assertThat(row("SELECT upper( clientid ), payload.a[3].b FROM 't/#'"))
                .isEqualTo(Map.of("upper( clientid )", "C1", "payload", Map.of("a", List.of(Map.of("b", 3L)))));
    }

    @Test
    void operatorsHaveTheirPrecedence() throws RuleSqlException {
        assertThat(row("SELECT 1 + 2 * 3 - -4 AS a, 7 div 2 + 7 mod 2 AS b, 'x' + 1 + true AS c, 3 / 2 AS d FROM 't'"))
                .isEqualTo(Map.of("a", 11L, "b", 4L, "c", "x1true", "d", 1.5));
        assertThat(row("SELECT not 1 = 2 and 3 > 2 or false AS a, qos in (0, 1) AS b, qos NOT IN (0, 1) AS c FROM 't'"))
                .isEqualTo(Map.of("a", true, "b", true, "c", false));
    }

    @Test
    void textIsComparedWithNumbersAsTheNumberThatItIs() throws RuleSqlException {
        assertThat(row("SELECT '10' > 9 AS a, '10' = 10.0 AS b, 'x' > 9 AS c, 'x' != 9 AS d, '10' > '9' AS e FROM 't'"))
                .isEqualTo(Map.of("a", true, "b", true, "c", false, "d", true, "e", false));
    }

    @Test
    void bothFormsOfCase() throws RuleSqlException {
        assertThat(
                        row(
                                "SELECT CASE qos WHEN 0 THEN 'a' WHEN 1 THEN 'b' END AS x, CASE WHEN qos > 1 THEN 1 END AS y FROM 't'"))
                .isEqualTo(Map.of("x", "b"));
    }

    @Test
    void commentsAndQuotedNames() throws RuleSqlException {
        assertThat(row("SELECT `clientid` AS 'the client', -- a comment\n 'it''s' AS b /* more */ FROM 't';"))
                .isEqualTo(Map.of("the client", "c1", "b", "it's"));
    }

    @Test
    void topicsMatchFilters() throws RuleSqlException {
        assertThat(row("SELECT topic =~ 't/+' AS a, topic =~ 'u/#' AS b, topic =~ ['x', 't/#'] AS c FROM 't'"))
                .isEqualTo(Map.of("a", true, "b", false, "c", true));
    }

    @Test
    void theSecondRuleOfAMessageReadsTheWholePayloadOnceForAllOthers() throws RuleSqlException {
        RuleInput input = RuleInput.of(Map.of("payload", "{\"a\":{\"b\":[1,2]},\"a\":{\"c\":3}}".getBytes()));
        for (int round = 0; round < 3; round++) {
            RuleOutcome outcome = RuleSql.compile("SELECT payload.a.b AS b, payload.a.c AS c FROM 't'")
                    .evaluate(input, RuleBudget.DEFAULT);
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            RuleOutcome.Rows.class,
                            found -> assertThat(found.rows()).isEqualTo(List.of(Map.of("c", 3L))));
        }
    }

    @Test
    void jsonNullIsAColumnAndUndefinedIsNone() throws RuleSqlException {
        RuleInput input = RuleInput.of(Map.of("payload", "{\"a\":null}"));
        RuleOutcome.Rows rows = (RuleOutcome.Rows) RuleSql.compile("SELECT payload.a AS a, payload.b AS b FROM 't'")
                .evaluate(input, RuleBudget.DEFAULT);

        assertThat(rows.rows().get(0)).containsOnlyKeys("a").containsEntry("a", null);
    }

    @Test
    void theTraceHasTheResultOfEachClause() throws RuleSqlException {
        RuleTrace trace = new RuleTrace();
        RuleSql.compile("FOREACH payload.a AS e DO e * 2 AS d INCASE is_int(e) FROM 't' WHERE qos = 1")
                .evaluate(RuleInput.of(EVENT), RuleBudget.DEFAULT, trace);

        assertThat(trace.clauses())
                .extracting(clause -> clause.clause() + " " + clause.text() + " " + clause.value())
                .containsExactly(
                        "WHERE qos = 1 true",
                        "FOREACH payload.a [1, 2, {b=3}]",
                        "INCASE is_int(e) true",
                        "DO e * 2 AS d 2",
                        "INCASE is_int(e) true",
                        "DO e * 2 AS d 4",
                        "INCASE is_int(e) false");
    }

    @Test
    void aFailureIsInTheTraceOfItsClause() throws RuleSqlException {
        RuleTrace trace = new RuleTrace();
        RuleSql.compile("SELECT abs(clientid) AS x FROM 't'").evaluate(RuleInput.of(EVENT), RuleBudget.DEFAULT, trace);

        assertThat(trace.clauses())
                .singleElement()
                .satisfies(
                        clause -> assertThat(clause.failure()).isEqualTo("abs: argument 1 must be a number, not text"));
    }
}
