// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** Prints the versions of the broker and of its environment. */
@Command(name = "version", description = "Prints the versions of smqtt, Java and the operating system.")
final class VersionCommand implements Callable<Integer>, IVersionProvider {

    private final ProgramContext program;

    VersionCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() {
        for (String line : getVersion()) {
            program.out().println(line);
        }
        return ExitCode.OK;
    }

    @Override
    public String[] getVersion() {
        String version = VersionCommand.class.getPackage().getImplementationVersion();
        return new String[] {
            "smqtt " + (version == null ? "(not packaged)" : version),
            "java " + System.getProperty("java.runtime.version") + " (" + System.getProperty("java.vm.name") + ")",
            "os " + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                    + System.getProperty("os.arch")
        };
    }
}
