// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Cost of a simple rule for a message with 122 bytes of JSON. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class RuleBenchmark {

    private static final String PAYLOAD =
            "{\"device\":\"sensor-000123\",\"ts\":1764201600000,\"temp\":21.5,\"hum\":43,\"state\":{\"battery\":87,\"signal\":-71},\"fw\":\"1.4.2\"}";

    /** Whether the messages match. */
    @Param({"20", "30"})
    public int above = 20;

    private final byte[] payload = PAYLOAD.getBytes(StandardCharsets.UTF_8);
    private RuleProgram program = program(20);

    /** JMH creates the state. */
    public RuleBenchmark() {}

    /** Compiles the statement. */
    @Setup
    public void compile() {
        program = program(above);
    }

    /** A message with one rule: the path is pulled from the stream. */
    @Benchmark
    public RuleOutcome oneRule() {
        return program.evaluate(message(), RuleBudget.DEFAULT);
    }

    /** A message with ten rules: from the second one on they share the tree. */
    @Benchmark
    public RuleOutcome tenRules() {
        RuleInput message = message();
        RuleOutcome last = program.evaluate(message, RuleBudget.DEFAULT);
        for (int rule = 1; rule < 10; rule++) {
            last = program.evaluate(message, RuleBudget.DEFAULT);
        }
        return last;
    }

    private RuleInput message() {
        return RuleInput.of(Map.of("clientid", "c1", "topic", "t/1", "payload", payload));
    }

    private static RuleProgram program(int above) {
        try {
            return RuleSql.compile("SELECT payload.temp AS t, clientid FROM \"t/#\" WHERE payload.temp > " + above);
        } catch (RuleSqlException e) {
            throw new IllegalStateException(e.text(), e);
        }
    }
}
