// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags that say which running broker to ask. */
final class ManagementOptions {

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec command;

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "Names the management port, for example https://127.0.0.1:18083.")
    @Nullable
    String url;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "Names the file with the token. The default is management.token-file, else management.token "
                    + "in the data directory. With --url there is no default: another broker never gets the token "
                    + "of this one.")
    @Nullable
    String tokenFile;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description = "Names a PEM file with the certificate authorities of the management port. The default are "
                    + "those of Java; for the broker of the configuration, its management.tls.certificate.")
    @Nullable
    String authorities;

    /**
     * Finds the management port of the broker that the configuration describes, unless a flag names another one.
     *
     * @param options say what configuration
     * @param program environment and working directory
     * @return asks that port
     * @throws ConfigurationException if the configuration cannot be used
     * @throws ParameterException if the URL is none of a management port
     */
    ManagementClient client(ConfigOptions options, ProgramContext program) {
        return client(options, program, null);
    }

    /**
     * The same.
     *
     * @param secret what is sent in the place of the token, for people; null for the token
     */
    ManagementClient client(ConfigOptions options, ProgramContext program, @Nullable String secret) {
        BrokerConfig config = options.load(program).broker();
        try {
            ManagementClient client = ManagementClient.of(
                    config.management(),
                    url,
                    tokenFile,
                    authorities,
                    program.directory(),
                    config.storage().dir());
            String warning = client.warning(secret);
            if (warning != null) {
                program.err().println("smqtt: " + warning);
            }
            return client;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(Objects.requireNonNull(command).commandLine(), e.getMessage());
        }
    }
}
