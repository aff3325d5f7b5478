// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads that clients choose end in a result or a failure, within the budget. */
class HostileInputTest {

    private static RuleOutcome run(String sql, byte[] payload) {
        return run(sql, payload, RuleBudget.DEFAULT);
    }

    private static RuleOutcome run(String sql, byte[] payload, RuleBudget budget) {
        try {
            RuleProgram program = RuleSql.compile(sql + " FROM \"t/#\"");
            RuleInput input = RuleInput.of(Map.of("payload", payload, "topic", "t/1", "clientid", "c"));
            return Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> program.evaluate(input, budget));
        } catch (RuleSqlException e) {
            throw new AssertionError(e.text(), e);
        }
    }

    private static String reason(String sql, byte[] payload) {
        RuleOutcome outcome = run(sql, payload);
        assertThat(outcome).isInstanceOf(RuleOutcome.Failed.class);
        return ((RuleOutcome.Failed) outcome).reason();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Object value(String sql, String payload) {
        RuleOutcome outcome = run("SELECT " + sql + " AS r", bytes(payload));
        assertThat(outcome).isInstanceOf(RuleOutcome.Rows.class);
        return ((RuleOutcome.Rows) outcome).rows().get(0).get("r");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT payload.a AS r",
                "SELECT json_decode(payload) AS r",
                "SELECT payload.a.b AS r, payload[1] AS s"
            })
    void deepJsonIsAFailure(String sql) {
        assertThat(reason(sql, bytes("[".repeat(100_000))))
                .contains("is not JSON")
                .contains("nesting depth");
        assertThat(reason(sql, bytes("{\"a\":".repeat(100_000)))).contains("nesting depth");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "{\"a\":1", "{\"a\":1} x", "[1,]", "nul", "{\"a\":01}", "\u0000", "{'a':1}"})
    void whatIsNotJsonIsAFailureForPathsAndForTheWhole(String payload) {
        assertThat(reason("SELECT payload.a AS r", bytes(payload))).contains("JSON");
        assertThat(reason("SELECT json_decode(payload) AS r", bytes(payload))).contains("JSON");
    }

    @Test
    void bytesThatAreNotUtf8StayBytes() {
        byte[] payload = {(byte) 0xC3, 0x28, 'x'};
        RuleOutcome.Rows rows = (RuleOutcome.Rows) run("SELECT payload, bin2hexstr(payload) AS hex", payload);

        assertThat(rows.rows().get(0)).containsEntry("payload", payload).containsEntry("hex", "C32878");
        assertThat(reason("SELECT upper(payload) AS r", payload)).isEqualTo("the bytes are not UTF-8 text");
        assertThat(reason("SELECT payload.a AS r", new byte[] {'{', '"', (byte) 0xC3, '"', ':', '1', '}'}))
                .contains("is not JSON");
    }

    @Test
    void hugeNumbersAreExactOrAFailure() {
        assertThat(value("payload.a * payload.a", "{\"a\":9223372036854775807}").toString())
                .isEqualTo("85070591730234615847396907784232501249");
        assertThat(reason("SELECT payload.a AS r", bytes("{\"a\":1" + "0".repeat(500) + "}")))
                .contains("is not JSON");
        assertThat(reason("SELECT payload.a AS r", bytes("{\"a\":1e999}"))).contains("not a finite number");
        assertThat(reason("SELECT bitsl(payload.a, 4096) AS r", bytes("{\"a\":1}")))
                .contains("more than 4096 bits");
        assertThat(reason("SELECT payload.a * 1e308 AS r", bytes("{\"a\":1e9}")))
                .contains("not a finite number");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "div", "mod"})
    void divisionByZeroIsAFailure(String operator) {
        assertThat(reason("SELECT 1 " + operator + " payload.a AS r", bytes("{\"a\":0}")))
                .isEqualTo("division by zero");
    }

    @Test
    void regularExpressionsAreLinear() {
        String text = "{\"a\":\"" + "a".repeat(50_000) + "!\",\"p\":\"((a+)+)+$\"}";

        assertThat(value("regex_match(payload.a, '((a+)+)+$')", text)).isEqualTo(false);
        assertThat(value("regex_match(payload.a, payload.p)", text)).isEqualTo(false);
        assertThat(reason("SELECT regex_match(payload.a, payload.a) AS r", bytes(text)))
                .contains("1000 characters");
        assertThat(reason("SELECT regex_match('a', payload.p) AS r", bytes("{\"p\":\"((a{900}){900}){900}\"}")))
                .contains("repeat");
    }

    @Test
    void loopsAndCopiesAreWithinTheBudget() {
        String array = "{\"a\":[" + "1,".repeat(200_000) + "1]}";

        assertThat(reason("FOREACH payload.a DO item + 1 AS r", bytes(array))).contains("more than 100000 steps");
        assertThat(reason("FOREACH range(1, 20000) AS i DO payload", bytes("x".repeat(100_000))))
                .containsAnyOf("more than 100000 steps", "exceed");
        assertThat(reason("SELECT pad('', 1000000000, 'leading', payload) AS r", bytes("x".repeat(1000))))
                .contains("more than");
        assertThat(reason("SELECT replace(payload, 'x', payload) AS r", bytes("x".repeat(10_000))))
                .containsAnyOf("more than", "exceed");
        assertThat(reason("SELECT sprintf('~999999999s', 'a') AS r", bytes(""))).contains("width");
    }

    @Test
    void compressedBombsAreBounded() {
        RuleOutcome packed = run("SELECT gzip(pad('', 4000000)) AS r", bytes(""), new RuleBudget(1_000_000, 100 << 20));
        byte[] bomb = (byte[]) ((RuleOutcome.Rows) packed).rows().get(0).get("r");

        assertThat(run("SELECT strlen(gunzip(payload)) AS r", bomb, new RuleBudget(1_000_000, 1 << 20)))
                .isEqualTo(new RuleOutcome.Failed("the values of the rule exceed 1048576 bytes"));
    }

    @Test
    void pathsFromPayloadsDoNotNestWithoutEnd() {
        String keys = "{\"k\":[" + "\"a\",".repeat(5_000) + "\"a\"]}";

        assertThat(reason("SELECT mput(payload.k, 1, map_new()) AS r", bytes(keys)))
                .contains("more than 100 steps");
    }

    @Test
    void aMebibyteIsReadWithinTheBudget() {
        String large = "{\"pad\":\"" + "x".repeat(1 << 20) + "\",\"temp\":21}";

        assertThat(value("payload.temp", large)).isEqualTo(21L);
    }

    @Test
    void randomPayloadsNeverThrow() throws RuleSqlException {
        Random random = new Random(20261127);
        RuleProgram path = RuleSql.compile("SELECT payload.a AS r FROM 't'");
        RuleProgram whole = RuleSql.compile("SELECT mget('a', payload) AS r FROM 't'");
        String[] parts = {
            "{",
            "}",
            "[",
            "]",
            "\"a\"",
            ":",
            ",",
            "1",
            "-1.5e3",
            "null",
            "true",
            "\"\\u00e9\"",
            " ",
            "\u0000",
            "\uD83D\uDE00"
        };
        for (int round = 0; round < 20_000; round++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "{\"a\":" : "");
            for (int count = random.nextInt(9); count >= 0; count--) {
                text.append(parts[random.nextInt(parts.length)]);
            }
            Map<String, Object> event = Map.of("payload", bytes(text.toString()));
            RuleOutcome pulled = path.evaluate(RuleInput.of(event), RuleBudget.DEFAULT);
            RuleOutcome read = whole.evaluate(RuleInput.of(event), RuleBudget.DEFAULT);
            if (read instanceof RuleOutcome.Rows) {
                assertThat(pulled).as("payload %s", text).isEqualTo(read);
            }
        }
    }
}
