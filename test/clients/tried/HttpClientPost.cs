// Without this line, `dotnet run` would ask the network for a package.
#:property PublishAot=false

using System;
using System.Net.Http;
using System.Text;

using var client = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.Post, Environment.GetEnvironmentVariable("INGEST_URL"));
request.Headers.Add("X-API-Key", Environment.GetEnvironmentVariable("KEY"));
request.Content = new StringContent(Environment.GetEnvironmentVariable("READING")!, Encoding.UTF8, "application/json");
using var answer = await client.SendAsync(request);
Console.WriteLine(await answer.Content.ReadAsStringAsync());
