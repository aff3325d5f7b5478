// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/rules-sql.md has all functions as the language has them, and the results of its examples are real. */
class RuleDocumentTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern EVENT = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL);
    private static final Pattern EXAMPLE =
            Pattern.compile("```sql\n(.*?)```\n+```(json|text)\n(.*?)```", Pattern.DOTALL);

    private static String document() throws IOException {
        return Files.readString(Path.of("..", "docs", "rules-sql.md").toAbsolutePath());
    }

    /** The tables of functions, as the document must have them. */
    static String tables() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, List<Function>> family : Functions.all().entrySet()) {
            text.append("### ").append(family.getKey()).append("\n\n| function | result |\n|---|---|\n");
            for (Function function : family.getValue()) {
                text.append("| `")
                        .append(function.signature())
                        .append("` | ")
                        .append(function.text())
                        .append(" |\n");
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Test
    void theTablesOfFunctionsAreThoseOfTheLanguage() throws IOException {
        assertThat(document()).contains(tables().strip());
    }

    @Test
    void theExamplesHaveTheirResult() throws IOException {
        String document = document();
        Matcher event = EVENT.matcher(document);
        assertThat(event.find()).isTrue();
        Map<String, Object> fields = JSON.readValue(event.group(1), new TypeReference<>() {});
        fields.computeIfPresent("payload", (key, text) -> text.toString().getBytes(StandardCharsets.UTF_8));
        StringBuilder wrong = new StringBuilder();
        int count = 0;
        for (Matcher example = EXAMPLE.matcher(document); example.find(); count++) {
            String found = run(example.group(1), RuleInput.of(fields));
            String expected = example.group(3).strip();
            boolean same = example.group(2).equals("text")
                    ? found.equals(expected)
                    : JSON.readTree(found).equals(JSON.readTree("[" + expected.replaceAll("\\}\n\\{", "},{") + "]"));
            if (!same) {
                wrong.append(example.group(1)).append(found).append('\n');
            }
        }

        assertThat(wrong.toString()).isEmpty();
        assertThat(count).isGreaterThan(8);
    }

    private static String run(String sql, RuleInput input) throws IOException {
        RuleOutcome outcome;
        try {
            outcome = RuleSql.compile(sql).evaluate(input, RuleBudget.DEFAULT);
        } catch (RuleSqlException e) {
            return e.text();
        }
        return outcome instanceof RuleOutcome.Rows rows
                ? JSON.writeValueAsString(rows.rows())
                : outcome instanceof RuleOutcome.Failed failed ? "failed: " + failed.reason() : "no match";
    }
}
