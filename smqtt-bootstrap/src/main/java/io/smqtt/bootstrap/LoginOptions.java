// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags that say who asks, where it is not who has the token. */
final class LoginOptions {

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec command;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description =
                    "Logs in as this user of the API. The password is read from --secret-file, the terminal or the "
                            + "first line of standard input.")
    @Nullable
    String user;

    @Option(
            names = "--api-key",
            paramLabel = "KEY",
            description = "Uses this API key. The secret is read from --secret-file, the terminal or the first line of "
                    + "standard input.")
    @Nullable
    String key;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "Names the file whose first line is the password of --user or the secret of --api-key.")
    @Nullable
    String secretFile;

    /** {@return what is sent in the place of the token, for people; null for the token} */
    @Nullable
    String secret() {
        if (user != null && key != null) {
            throw usage("--user and --api-key exclude each other");
        }
        if (secretFile != null && user == null && key == null) {
            throw usage("--secret-file is for --user or --api-key; --token-file names the file of the token");
        }
        return user != null ? "the password" : key != null ? "the secret" : null;
    }

    private ParameterException usage(String message) {
        if (command == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(command.commandLine(), message);
    }

    /** Who is logged in: the client to ask with, and the password that was used. */
    record Login(ManagementClient client, String password, boolean mustChange) {}

    /**
     * Logs in, if a flag asks for it.
     *
     * @param client asks with the token
     * @param input reads the secret
     * @return asks as the user or the key of the flags
     * @throws RefusedException if the broker refuses the login
     * @throws IOException if there is no answer
     */
    Login login(ManagementClient client, SecretInput input) throws IOException {
        String name = user;
        if (name != null) {
            String password = input.existing(secretFile, "Password of " + name);
            JsonNode answer = new BrokerApi(client.as(""))
                    .send(
                            "POST",
                            "/login",
                            BrokerApi.object().put("username", name).put("password", password));
            ManagementClient known = client.as("Bearer " + answer.path("token").asText());
            return new Login(
                    known, password, answer.path("must_change_password").asBoolean());
        }
        if (key != null) {
            String pair = key + ":" + input.existing(secretFile, "Secret of " + key);
            String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
            return new Login(client.as("Basic " + encoded), "", false);
        }
        return new Login(client, "", false);
    }
}
