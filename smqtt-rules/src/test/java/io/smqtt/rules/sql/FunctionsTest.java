// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each function by the examples in functions.txt. */
class FunctionsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final RuleInput EVENT = RuleInput.of(Map.of(
            "id", "m1",
            "clientid", "c1",
            "username", "u1",
            "peerhost", "127.0.0.1",
            "topic", "t/a/b",
            "qos", 1,
            "flags", Map.of("retain", false),
            "payload", "{\"x\":{\"y\":5}}".getBytes(StandardCharsets.UTF_8)));

    static List<String> lines(String name) throws IOException {
        try (InputStream in = FunctionsTest.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    @Test
    void examplesHaveTheirResult() throws IOException {
        StringBuilder wrong = new StringBuilder();
        for (String line : lines("functions.txt")) {
            int arrow = line.lastIndexOf(" -> ");
            if (!line.startsWith("#") && arrow > 0) {
                String expression = line.substring(0, arrow);
                String expected = line.substring(arrow + 4);
                String found = check(expression, expected);
                if (!found.isEmpty()) {
                    wrong.append(line).append("  but ").append(found).append('\n');
                }
            }
        }

        assertThat(wrong.toString()).isEmpty();
    }

    /** Nothing, or what is found instead. */
    private static String check(String expression, String expected) throws IOException {
        RuleOutcome outcome;
        try {
            outcome = RuleSql.compile("SELECT " + expression + " AS r FROM \"t/#\"")
                    .evaluate(EVENT, RuleBudget.DEFAULT);
        } catch (RuleSqlException e) {
            return expected.startsWith("!") && e.getMessage().contains(expected.substring(2)) ? "" : e.text();
        }
        if (outcome instanceof RuleOutcome.Failed failed) {
            return expected.startsWith("!") && failed.reason().contains(expected.substring(2)) ? "" : failed.reason();
        }
        Map<String, Object> row = ((RuleOutcome.Rows) outcome).rows().get(0);
        if (!row.containsKey("r")) {
            return expected.equals("undefined") ? "" : "undefined";
        }
        String found = JSON.writeValueAsString(row.get("r"));
        boolean same = !expected.startsWith("!")
                && !expected.equals("undefined")
                && JSON.readTree(found).equals(JSON.readTree(expected));
        return same ? "" : found;
    }

    @Test
    void eachFunctionHasAnExample() throws IOException {
        String examples = String.join("\n", lines("functions.txt"));
        TreeSet<String> without = Functions.all().values().stream()
                .flatMap(List::stream)
                .map(Function::name)
                .filter(name -> !examples.contains(name + "("))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(without).isEmpty();
        assertThat(Functions.all().values().stream().mapToInt(List::size).sum()).isGreaterThan(130);
    }

    @Test
    void functionsAreFoundInUpperAndLowerCase() {
        assertThat(Functions.find("UPPER")).isSameAs(Functions.find("upper"));
    }

    @Test
    void unknownFunctionsAreNamedWithTheNearestOne() {
        assertThat(Functions.unknown("uper")).isEqualTo("there is no function uper; did you mean upper?");
        assertThat(Functions.unknown("jq")).startsWith("the function jq is not supported: ");
    }
}
