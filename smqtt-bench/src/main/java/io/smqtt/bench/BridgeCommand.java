// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Publishes to one broker and receives from another one, to which a bridge forwards. */
@Command(
        name = "bridge",
        description = "Publishes to one broker and receives from another one, between which the brokers have a bridge.")
final class BridgeCommand extends LoadCommand {

    @Option(
            names = "--to",
            required = true,
            paramLabel = "HOST:PORT",
            description = "The broker from which subscribers receive. -h and -p are the one to which publishers send.")
    String to = "";

    @Option(names = "--pairs", description = "Publishers, and as many subscribers. Default: ${DEFAULT-VALUE}.")
    int pairs = 500;

    @Option(
            names = {"-t", "--topic"},
            description = "What published topics begin with; a slash and a number follow. Default: ${DEFAULT-VALUE}.")
    String topic = "bench/bridge";

    @Option(
            names = "--arrives-as",
            paramLabel = "TOPIC",
            description = "What these topics begin with at the other broker. Default: the same.")
    @Nullable
    String arrival;

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos = 1;

    @Option(
            names = {"-s", "--size"},
            description = "Payload bytes, at least 16. Default: ${DEFAULT-VALUE}.")
    int payloadBytes = 128;

    @Option(
            names = "--rate",
            description = "Open loop: messages per second of all publishers. Default: 0, a closed loop.")
    double perSecond;

    @Option(
            names = "--window",
            description = "Closed loop: messages of a publisher not yet received. Default: ${DEFAULT-VALUE}.")
    int window = 32;

    @Option(
            names = {"-F", "--inflight"},
            description = "Messages of a publisher not yet acknowledged. Default: ${DEFAULT-VALUE}.")
    int inFlight = 32;

    @Option(
            names = {"-L", "--limit"},
            description = "Messages of all publishers together; 0: no limit. Default: ${DEFAULT-VALUE}.")
    long limit;

    @Option(names = "--warm-up", paramLabel = "TIME", description = "Before the measurement. Default: 1s.")
    Duration warmUp = Duration.ofSeconds(1);

    @Option(
            names = "--to-pid",
            paramLabel = "PID",
            description = "The process of the other broker: reports its CPU and memory, too (Linux).")
    @Nullable
    Long receiverPid;

    BridgeCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        check(pairs > 0, "--pairs: at least 1");
        Target target = connection.target();
        Target receiving = receiving(target);
        LoadSettings settings = MessageRules.checked(new LoadSettings(
                qos,
                payloadBytes,
                false,
                List.of(),
                perSecond,
                perSecond > 0 ? 0 : window,
                inFlight,
                limit,
                limit > 0 ? Duration.ZERO : warmUp,
                run.duration,
                run.drain));
        String in = arrival == null ? topic : arrival;
        for (String name : List.of(topic, in)) {
            String problem = TopicPattern.problemOfName(name);
            check(problem.isEmpty(), "-t and --arrives-as: " + problem);
        }
        Plan plan = new ScenarioPlans(connection.prefix, qos).forwarded("bridge", pairs, topic, in);
        run.require(plan.clients().size());
        if (receiverPid != null) {
            ProcessUse.of(receiverPid);
        }
        try (LoadEngine engine = new LoadEngine(run.threads)) {
            LoadResult result = new LoadRun(engine, plan, target, receiving, settings, watch.withReceiver(receiverPid))
                    .run(connection.arrivalNanos(), false);
            if (result.figures().delivered == 0 && !result.interrupted()) {
                throw new LoadFailure("no message has arrived at " + receiving.display() + ": does a bridge forward "
                        + topic + "/# to " + in + "/# there?");
            }
            return result;
        }
    }

    private Target receiving(Target like) {
        int colon = to.lastIndexOf(':');
        String port = to.substring(colon + 1);
        boolean known = colon > 0 && port.matches("[0-9]{1,5}") && Integer.parseInt(port) > 0;
        check(known && Integer.parseInt(port) < 65_536, "--to " + to + ": must be HOST:PORT");
        String host = to.substring(0, colon);
        return like.at(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, Integer.parseInt(port));
    }
}
