// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Subscribers without publishers; losses are gaps in the message numbers of each publisher of {@code pub}. */
@Command(name = "sub", description = "Subscribes with a number of clients.")
final class SubCommand extends LoadCommand {

    @Mixin
    CountOptions count = new CountOptions();

    @Option(
            names = {"-t", "--topic"},
            required = true,
            description = "Topic filter, may be repeated; %%c is the client identifier, %%u the user name,"
                    + " %%i the client's number.")
    List<String> filters = List.of();

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos;

    @Option(
            names = {"-L", "--limit"},
            description = "Ends after this number of messages; 0: no limit. Default: ${DEFAULT-VALUE}.")
    long limit;

    SubCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        Target target = connection.target();
        MessageRules.checkQos(qos);
        check(limit >= 0, "-L: cannot be negative");
        run.require(count.clients);
        count.check();
        List<ClientSpec> clients = new ArrayList<>();
        List<FlowTable> tables = new ArrayList<>();
        for (int i = 0; i < count.clients; i++) {
            String id = connection.prefix + "-sub-" + count.number(i);
            String user = connection.userName == null ? "" : connection.userName;
            List<String> own = new ArrayList<>();
            for (String filter : filters) {
                own.add(TopicPattern.fill(filter, id, TopicPattern.fill(user, id, "", i), count.number(i)));
                String problem = TopicPattern.problemOfFilter(own.get(own.size() - 1));
                check(problem.isEmpty(), "-t: " + problem);
            }
            FlowTable flows = FlowTable.open();
            tables.add(flows);
            clients.add(ClientSpec.subscriber(id, i, i, own, qos, flows));
        }
        return runPlan(new Plan("sub", clients, tables, 0), target, receiving(qos, limit), watch, false);
    }
}
