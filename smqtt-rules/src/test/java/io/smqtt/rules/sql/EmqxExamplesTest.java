// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The statements of EMQX's documentation have the same result here, or one that the table names as a difference. */
class EmqxExamplesTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void statementsHaveTheResultOfTheTable() throws IOException {
        StringBuilder wrong = new StringBuilder();
        int count = 0;
        for (String block :
                String.join("\n", FunctionsTest.lines("emqx-examples.txt")).split("\n\n")) {
            if (block.startsWith("sql: ")) {
                count++;
                List<String> lines = block.lines().toList();
                String expected = lines.stream()
                        .filter(line -> line.matches("(rows: |error: |nomatch).*"))
                        .findFirst()
                        .orElseThrow();
                String found = run(lines);
                if (!agree(expected, found)) {
                    wrong.append(lines.get(0))
                            .append('\n')
                            .append(expected)
                            .append("\nbut ")
                            .append(found)
                            .append('\n');
                }
            }
        }

        assertThat(wrong.toString()).isEmpty();
        assertThat(count).isEqualTo(61);
    }

    private static boolean agree(String expected, String found) throws IOException {
        if (expected.startsWith("rows: ")) {
            return found.startsWith("rows: ")
                    && JSON.readTree(found.substring(6)).equals(JSON.readTree(expected.substring(6)));
        }
        return found.startsWith(expected);
    }

    private static String run(List<String> lines) throws IOException {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("clientid", "c1");
        event.put("username", "u1");
        event.put("topic", "t/a");
        event.put("qos", 1);
        event.put("payload", "{\"x\":1}");
        for (String line : lines) {
            if (line.startsWith("event: ")) {
                event.putAll(JSON.readValue(line.substring(7), new TypeReference<Map<String, Object>>() {}));
            }
        }
        event.computeIfPresent("payload", (key, text) -> text.toString().getBytes(StandardCharsets.UTF_8));
        RuleOutcome outcome;
        try {
            outcome = RuleSql.compile(lines.get(0).substring(5)).evaluate(RuleInput.of(event), RuleBudget.DEFAULT);
        } catch (RuleSqlException e) {
            return "error: " + e.getMessage();
        }
        if (outcome instanceof RuleOutcome.Rows rows) {
            return "rows: " + JSON.writeValueAsString(rows.rows());
        }
        return outcome instanceof RuleOutcome.Failed failed ? "error: " + failed.reason() : "nomatch";
    }
}
