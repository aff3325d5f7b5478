// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.RuleSample;
import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.rules.sql.RuleTrace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tries out rules without a broker. */
@Command(name = "rule", description = "Tries out the SQL of a rule, without a broker.")
final class RuleCommand implements Runnable {

    @Spec
    @Nullable
    CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "test?");
        }
    }

    /** Evaluates a statement for one event. */
    @Command(
            name = "test",
            description = {
                "Evaluates the statement in a file for one message or event, and prints the result of each clause and the rows. "
                        + "The exit code is 1 if the statement is not valid or cannot be evaluated."
            })
    static final class Test implements Callable<Integer> {

        private static final ObjectMapper JSON = new ObjectMapper();

        private final ProgramContext program;

        @Parameters(index = "0", paramLabel = "FILE", description = "Names the file with the statement.")
        String file = "";

        @Nullable
        @Option(
                names = {"-e", "--event"},
                paramLabel = "FILE",
                description =
                        "Names a file with the fields of the event as a JSON object. The options below replace fields.")
        String event;

        @Nullable
        @Option(
                names = {"-p", "--payload"},
                paramLabel = "TEXT",
                description = "Is the payload.")
        String payload;

        @Nullable
        @Option(
                names = {"-t", "--topic"},
                paramLabel = "TOPIC",
                description = "Is the topic. By default it is one that the statement has in FROM.")
        String topic;

        Test(ProgramContext program) {
            this.program = program;
        }

        @Override
        public Integer call() throws IOException {
            RuleProgram rule;
            RuleSample sample;
            try {
                rule = RuleSql.compile(read(file));
                sample = RuleSample.of(rule, fields());
            } catch (RuleSqlException e) {
                program.err().println("smqtt: " + file + ": " + e.text());
                return ExitCode.UNEXPECTED;
            }
            RuleTrace trace = new RuleTrace();
            RuleOutcome outcome = rule.evaluate(sample.input(), RuleBudget.DEFAULT, trace);
            print(sample.from());
            for (RuleTrace.Clause clause : trace.clauses()) {
                print(clause);
            }
            if (!sample.isSelected()) {
                program.out().println("no match: " + sample.reason());
                return ExitCode.OK;
            }
            if (outcome instanceof RuleOutcome.Failed failed) {
                program.err().println("smqtt: " + failed.reason());
                return ExitCode.UNEXPECTED;
            }
            if (outcome instanceof RuleOutcome.Rows rows) {
                for (Map<String, ?> row : rows.rows()) {
                    program.out().println(JSON.writeValueAsString(row));
                }
            } else {
                program.out().println("no match");
            }
            return ExitCode.OK;
        }

        private void print(RuleTrace.Clause clause) throws JsonProcessingException {
            String result = clause.failure() == null ? JSON.writeValueAsString(clause.value()) : clause.failure();
            program.out().println(clause.clause() + " " + clause.text() + ": " + result);
        }

        private Map<String, Object> fields() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("clientid", "client");
            fields.put("qos", 0);
            fields.put("payload", "{}");
            if (event != null) {
                try {
                    fields.putAll(JSON.readValue(read(event), new TypeReference<Map<String, Object>>() {}));
                } catch (JsonProcessingException e) {
                    throw new ConfigurationException(event + ": is not a JSON object");
                }
            }
            if (payload != null) {
                fields.put("payload", payload);
            }
            if (topic != null) {
                fields.put("topic", topic);
            }
            return fields;
        }

        private String read(String name) {
            try {
                return Files.readString(program.directory().resolve(name), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new ConfigurationException(
                        name + ": cannot be read (" + e.getClass().getSimpleName() + ")");
            }
        }
    }
}
