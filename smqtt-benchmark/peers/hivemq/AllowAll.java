// SPDX-License-Identifier: Apache-2.0

import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthInput;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.file.Path;

/** Starts HiveMQ CE with a folder that has conf/, data/ and extensions/; everybody may connect, which needs an extension there. */
public final class AllowAll implements ExtensionMain {

    public static void main(String[] args) {
        Path home = Path.of(args[0]);
        EmbeddedExtension extension = EmbeddedExtension.builder()
                .withId("allow-all")
                .withName("allow all")
                .withVersion("1")
                .withExtensionMain(new AllowAll())
                .build();
        EmbeddedHiveMQ.builder()
                .withConfigurationFolder(home.resolve("conf"))
                .withDataFolder(home.resolve("data"))
                .withExtensionsFolder(home.resolve("extensions"))
                .withEmbeddedExtension(extension)
                .build()
                .start()
                .join();
    }

    @Override
    public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
        SimpleAuthenticator everybody =
                (SimpleAuthInput in, SimpleAuthOutput out) -> out.authenticateSuccessfully();
        Services.securityRegistry().setAuthenticatorProvider(in -> everybody);
    }

    @Override
    public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}
}
