// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Publishers without subscribers; {@code sub} in another process measures what arrives. */
@Command(name = "pub", description = "Publishes with a number of clients.")
final class PubCommand extends LoadCommand {

    @Mixin
    CountOptions count = new CountOptions();

    @Option(
            names = {"-I", "--interval-of-msg"},
            description = "Milliseconds between two messages of one client; 0: as fast as possible."
                    + " Default: ${DEFAULT-VALUE}.")
    double messageIntervalMillis = 1000;

    @Option(names = "--rate", description = "Messages per second of all clients together, instead of -I.")
    @Nullable
    Double perSecond;

    @Option(
            names = {"-t", "--topic"},
            required = true,
            description = "Topic; %%c is the client identifier, %%u the user name, %%i the client's number.")
    String topic = "";

    @Option(
            names = {"-s", "--size"},
            description = "Payload bytes, at least 16. Default: ${DEFAULT-VALUE}.")
    int payloadBytes = 256;

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos;

    @Option(
            names = {"-r", "--retain"},
            description = "Publishes retained messages.")
    boolean retain;

    @Option(
            names = "--property",
            paramLabel = "NAME=VALUE",
            description = "MQTT 5: a user property of each message; repeatable.")
    List<String> userProperties = List.of();

    @Option(
            names = {"-L", "--limit"},
            description = "Messages of all clients together; 0: no limit. Default: ${DEFAULT-VALUE}.")
    long limit;

    @Option(
            names = {"-F", "--inflight"},
            description = "QoS 1 and 2: messages of a client not yet acknowledged. Default: ${DEFAULT-VALUE}.")
    int inFlight = 32;

    PubCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        Target target = connection.target();
        check(messageIntervalMillis >= 0, "-I " + messageIntervalMillis + ": cannot be negative");
        double rate = perSecond != null
                ? perSecond
                : messageIntervalMillis == 0 ? 0 : count.clients * 1000 / messageIntervalMillis;
        LoadSettings settings = MessageRules.checked(new LoadSettings(
                qos,
                payloadBytes,
                retain,
                UserProperty.of(userProperties, target.version()),
                rate,
                0,
                inFlight,
                limit,
                Duration.ZERO,
                run.duration,
                run.drain));
        run.require(count.clients);
        count.check();
        List<ClientSpec> clients = new ArrayList<>();
        for (int i = 0; i < count.clients; i++) {
            String id = connection.prefix + "-pub-" + count.number(i);
            String user = connection.userName == null ? "" : connection.userName;
            String name = TopicPattern.fill(topic, id, TopicPattern.fill(user, id, "", i), count.number(i));
            String problem = TopicPattern.problemOfName(name);
            check(problem.isEmpty(), "-t: " + problem);
            clients.add(ClientSpec.publisher(id, i, i, name));
        }
        Plan plan = new Plan("pub", clients, List.of(), 0, count.startNumber, new long[0], List.of());
        return runPlan(plan, target, settings, watch, false);
    }
}
