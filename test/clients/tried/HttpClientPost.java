import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

class HttpClientPost {
    public static void main(String[] words) throws Exception {
        // The reading comes from a file, because Java reads the environment in the encoding of the locale.
        var request = HttpRequest.newBuilder(URI.create(System.getenv("INGEST_URL")))
                .header("X-API-Key", System.getenv("KEY"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(Files.readString(Path.of("reading.json"))))
                .build();
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        System.out.println(answer.body());
    }
}
