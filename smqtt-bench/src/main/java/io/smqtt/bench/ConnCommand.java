// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Idle connections. */
@Command(name = "conn", description = "Opens connections and holds them.")
final class ConnCommand extends LoadCommand {

    @Mixin
    CountOptions count = new CountOptions();

    ConnCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        Target target = connection.target();
        run.require(count.clients);
        List<ClientSpec> clients = new ArrayList<>();
        for (int i = 0; i < count.clients; i++) {
            clients.add(ClientSpec.idle(connection.prefix + "-conn-" + count.number(i), i));
        }
        return runPlan(new Plan("conn", clients, List.of(), 0), target, receiving(0, 0), watch, true);
    }
}
